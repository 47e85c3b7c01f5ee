/* Handles that outlive their database, freed in any order: answers, no crash, and no leak. */
#include "check.h"

int main(void) {
    esker_db *db, *again;
    esker_keyspace *ships, *clone, *other;
    esker_snapshot *snapshot, *late;
    esker_batch *batch;
    esker_iter *iter;
    esker_value *value = esker_value_new();
    char *text;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    DO(esker_put(ships, S("anna"), S("a text that is longer than thirty bytes"), 0));
    DO(esker_db_flush(db));
    DO(esker_snapshot_new(db, NULL, &snapshot));
    DO(esker_batch_new(db, &batch));
    DO(esker_batch_put(batch, ships, S("a"), S("1")));
    DO(esker_iter_new(ships, snapshot, NULL, 0, NULL, 0, 0, &iter));
    DO(esker_iter_seek_to_first(iter));
    DO(esker_get(ships, NULL, S("anna"), 0, value));
    /* Closing is not refused, and the directory is free at once. */
    DO(esker_db_close(db));
    DO(esker_open("harbour", &again));
    /* What was held stays, and the rest answers. */
    CHECK(holds(value, "a text that is longer than thirty bytes"));
    REFUSED(esker_put(ships, S("a"), S("1"), 0), ESKER_CLOSED, "closed");
    CHECK(esker_iter_seek_to_first(iter) == ESKER_CLOSED);
    CHECK(esker_batch_commit(batch, 0) == ESKER_CLOSED);
    CHECK(esker_db_keyspace(db, "late", NULL, &other) == ESKER_CLOSED && other == NULL);
    CHECK(esker_db_flush(db) == ESKER_CLOSED && esker_db_sync(db) == ESKER_CLOSED);
    CHECK(esker_db_checkpoint(db, "copy") == ESKER_CLOSED && esker_db_verify(db) == ESKER_CLOSED);
    DO(esker_keyspace_clone(ships, &clone));
    DO(esker_db_stats(db, &text));
    esker_string_free(text);
    /* Handles can still be made, and answer like the others. */
    DO(esker_snapshot_new(db, NULL, &late));
    CHECK(esker_get(ships, late, S("anna"), 0, value) == ESKER_CLOSED && holds(value, NULL));
    CHECK(esker_get(ships, NULL, S("anna"), 0, value) == ESKER_CLOSED);
    esker_db_free(db);
    esker_snapshot_free(late);
    esker_keyspace_free(ships);
    esker_snapshot_free(snapshot);
    esker_batch_free(batch);
    esker_iter_free(iter);
    esker_value_free(value);
    CHECK(esker_contains(clone, NULL, S("anna"), 0) == ESKER_CLOSED);
    esker_keyspace_free(clone);
    /* A database that is freed first lives on in the handles of its keyspaces. */
    DO(esker_db_default(again, &ships));
    esker_db_free(again);
    CHECK(has(ships, NULL, "anna", "a text that is longer than thirty bytes"));
    CHECK(esker_open("harbour", &db) == ESKER_LOCKED && db == NULL);
    esker_keyspace_free(ships);
    DO(esker_open("harbour", &db));
    esker_db_free(db);
    return 0;
}
