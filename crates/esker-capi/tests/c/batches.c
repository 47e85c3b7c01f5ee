/* Writes that happen together, over several keyspaces, or not at all. */
#include "check.h"

int main(void) {
    esker_keyspace_options *appends = esker_keyspace_options_new();
    esker_db *db, *other;
    esker_keyspace *ships, *crews, *strange;
    esker_batch *batch;
    uint64_t end;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    DO(esker_keyspace_options_set(appends, "merge_operator", "append:,"));
    DO(esker_db_keyspace(db, "crews", appends, &crews));
    esker_keyspace_options_free(appends);
    DO(esker_open("other", &other));
    DO(esker_db_default(other, &strange));
    DO(esker_put(ships, S("old1"), S("x"), 0));
    DO(esker_put(ships, S("old2"), S("x"), 0));
    DO(esker_put(ships, S("zero"), S("x"), 0));

    DO(esker_batch_new(db, &batch));
    DO(esker_batch_put(batch, ships, S("anna"), S("at sea")));
    DO(esker_batch_put_with_ttl(batch, ships, S("pilot"), S("on board"), 3600000));
    DO(esker_batch_put_until(batch, ships, S("tide"), S("high"), 4000000000000u));
    DO(esker_batch_delete(batch, ships, S("zero")));
    DO(esker_batch_delete_range(batch, ships, S("old"), S("old2")));
    DO(esker_batch_merge(batch, crews, S("anna"), S("carla")));
    DO(esker_batch_merge(batch, crews, S("anna"), S("dora")));
    DO(esker_batch_set_expiry(batch, ships, S("old2"), 4000000000000u));
    CHECK(esker_batch_count(batch) == 8 && esker_batch_size(batch) > 60);
    /* What is refused is not in it. */
    REFUSED(esker_batch_put(batch, strange, S("a"), S("1")), ESKER_INVALID, "another database");
    REFUSED(esker_batch_merge(batch, ships, S("a"), S("1")), ESKER_INVALID, "merge operator");
    REFUSED(esker_batch_delete_range(batch, ships, S("a"), NULL, 0), ESKER_INVALID, "upper");
    CHECK(esker_batch_count(batch) == 8);
    CHECK(has(ships, NULL, "anna", NULL));
    REFUSED(esker_batch_commit(batch, 0x40), ESKER_INVALID, "flags");
    DO(esker_batch_commit(batch, ESKER_SYNC));
    CHECK(esker_batch_count(batch) == 0);
    CHECK(has(ships, NULL, "anna", "at sea") && has(ships, NULL, "zero", NULL));
    CHECK(has(ships, NULL, "old1", NULL) && has(ships, NULL, "old2", "x"));
    CHECK(has(crews, NULL, "anna", "carla,dora"));
    DO(esker_expiry(ships, NULL, S("pilot"), 0, &end));
    CHECK(end > 1600000000000u);
    DO(esker_expiry(ships, NULL, S("old2"), 0, &end));
    CHECK(end == 4000000000000u);

    /* It may be filled again; cleared it does nothing. */
    DO(esker_batch_delete_range(batch, ships, NULL, 0, S("b")));
    DO(esker_batch_commit(batch, 0));
    CHECK(has(ships, NULL, "anna", NULL));
    DO(esker_batch_put(batch, ships, S("anna"), S("lost")));
    esker_batch_clear(batch);
    esker_batch_clear(NULL);
    DO(esker_batch_commit(batch, 0));
    CHECK(has(ships, NULL, "anna", NULL));
    CHECK(esker_batch_count(NULL) == 0 && esker_batch_size(NULL) == 0);
    esker_batch_free(batch);
    esker_batch_free(NULL);

    esker_keyspace_free(strange);
    esker_keyspace_free(crews);
    esker_keyspace_free(ships);
    esker_db_free(other);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
