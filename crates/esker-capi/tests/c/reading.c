/* Reads of single keys and of many, now and at a snapshot, copied and held. */
#include "check.h"

#define LARGE 100000

static void single(esker_db *db, esker_keyspace *ships) {
    esker_value *value = esker_value_new(), *kept = esker_value_new();
    esker_snapshot *before, *named;
    char buffer[8], *large = malloc(LARGE);
    size_t size;
    uint64_t end;
    DO(esker_put(ships, S("anna"), S("in port"), 0));
    DO(esker_put(ships, S("void"), NULL, 0, 0));
    DO(esker_put(ships, NULL, 0, S("of the empty key"), 0));
    memset(large, 'x', LARGE);
    DO(esker_put(ships, S("large"), large, LARGE, 0));
    DO(esker_snapshot_new(db, NULL, &before));
    DO(esker_snapshot_new(db, "nightly report", &named));
    DO(esker_put(ships, S("anna"), S("at sea"), 0));
    CHECK(has(ships, NULL, "anna", "at sea") && has(ships, before, "anna", "in port"));
    CHECK(has(ships, named, "anna", "in port") && has(ships, NULL, "bela", NULL));
    CHECK(has(ships, NULL, "", "of the empty key"));
    /* An empty value is there, and not NULL. */
    CHECK(has(ships, NULL, "void", ""));
    DO(esker_get(ships, NULL, S("anna"), ESKER_NO_FILL_CACHE, value));
    DO(esker_get(ships, before, S("anna"), ESKER_NO_FILL_CACHE, kept));
    CHECK(holds(value, "at sea") && holds(kept, "in port"));
    REFUSED(esker_get(ships, NULL, S("anna"), 0x80, value), ESKER_INVALID, "flags");
    CHECK(holds(value, NULL));
    /* What is held outlives a write, a flush and a compaction. */
    DO(esker_get(ships, NULL, S("large"), 0, value));
    DO(esker_delete(ships, S("large"), 0));
    DO(esker_compact(ships, NULL, 0, NULL, 0));
    CHECK(esker_value_data(value, &size) != NULL && size == LARGE);
    CHECK(memcmp(esker_value_data(value, NULL), large, LARGE) == 0);
    esker_value_clear(value);
    CHECK(holds(value, NULL));
    free(large);
    DO(esker_get_into(ships, NULL, S("anna"), 0, buffer, sizeof buffer, &size));
    CHECK(is(buffer, size, "at sea"));
    CHECK(esker_get_into(ships, NULL, S("anna"), 0, buffer, 5, &size) == ESKER_BUFFER_TOO_SMALL);
    CHECK(size == 6);
    CHECK(esker_get_into(ships, NULL, S("anna"), 0, NULL, 0, &size) == ESKER_BUFFER_TOO_SMALL);
    DO(esker_get_into(ships, NULL, S("void"), 0, NULL, 0, &size));
    CHECK(size == 0);
    CHECK(esker_get_into(ships, before, S("bela"), 0, buffer, 8, &size) == ESKER_NOT_FOUND);
    DO(esker_contains(ships, NULL, S("anna"), 0));
    DO(esker_contains(ships, before, S("large"), 0));
    CHECK(esker_contains(ships, NULL, S("large"), 0) == ESKER_NOT_FOUND);
    DO(esker_expiry(ships, NULL, S("anna"), 0, &end));
    CHECK(end == 0);
    CHECK(esker_expiry(ships, NULL, S("bela"), 0, &end) == ESKER_NOT_FOUND);
    esker_snapshot_free(before);
    esker_snapshot_free(named);
    esker_snapshot_free(NULL);
    esker_value_free(value);
    esker_value_free(kept);
    esker_value_free(NULL);
}

static void many(esker_db *db, esker_keyspace *ships) {
    esker_bytes keys[3] = {{"anna", 4}, {"bela", 4}, {"", 0}};
    esker_bytes broken[1] = {{NULL, 4}};
    esker_value *values[3], *lone[1] = {NULL};
    esker_snapshot *now;
    int place;
    for (place = 0; place < 3; place++)
        values[place] = esker_value_new();
    DO(esker_multi_get(ships, NULL, keys, 3, 0, values));
    CHECK(holds(values[0], "at sea") && holds(values[1], NULL));
    CHECK(holds(values[2], "of the empty key"));
    DO(esker_snapshot_new(db, NULL, &now));
    DO(esker_put(ships, S("bela"), S("late"), 0));
    DO(esker_multi_get(ships, now, keys, 2, ESKER_NO_FILL_CACHE, values));
    CHECK(holds(values[0], "at sea") && holds(values[1], NULL));
    DO(esker_multi_get(ships, NULL, NULL, 0, 0, NULL));
    /* A failure leaves nothing of before in the values. */
    REFUSED(esker_multi_get(ships, NULL, broken, 1, 0, values), ESKER_INVALID, "key");
    CHECK(holds(values[0], NULL) && holds(values[2], "of the empty key"));
    REFUSED(esker_multi_get(ships, NULL, keys, 1, 0, lone), ESKER_INVALID, "values");
    REFUSED(esker_multi_get(ships, NULL, keys, (size_t)-1, 0, values), ESKER_INVALID, "values");
    /* A key may lie in a value that is read into, as where one keyspace leads to another. */
    DO(esker_put(ships, S("at sea"), S("with a pilot"), 0));
    DO(esker_multi_get(ships, NULL, keys, 1, 0, values));
    keys[0].data = esker_value_data(values[0], &keys[0].size);
    DO(esker_multi_get(ships, NULL, keys, 1, 0, values));
    CHECK(holds(values[0], "with a pilot"));
    esker_snapshot_free(now);
    for (place = 0; place < 3; place++)
        esker_value_free(values[place]);
}

int main(void) {
    esker_db *db, *other;
    esker_keyspace *ships;
    esker_snapshot *strange;
    esker_value *value = esker_value_new();
    esker_iter *iter;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    single(db, ships);
    many(db, ships);
    /* A snapshot of another database is refused, and nothing ends. */
    DO(esker_open("other", &other));
    DO(esker_snapshot_new(other, NULL, &strange));
    REFUSED(esker_get(ships, strange, S("anna"), 0, value), ESKER_INVALID, "another database");
    REFUSED(esker_iter_new(ships, strange, NULL, 0, NULL, 0, 0, &iter), ESKER_INVALID,
            "another database");
    esker_value_free(value);
    esker_snapshot_free(strange);
    esker_db_free(other);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
