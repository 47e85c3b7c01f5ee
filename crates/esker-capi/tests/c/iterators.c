/* Entries in order, both ways, within bounds, at a snapshot. */
#include "check.h"

static void ways(esker_keyspace *ships) {
    esker_iter *iter;
    esker_value *value = esker_value_new();
    const void *data = "";
    size_t size = 9;
    uint64_t end = 9;
    DO(esker_iter_new(ships, NULL, NULL, 0, NULL, 0, 0, &iter));
    CHECK(esker_iter_valid(iter) == 0 && esker_iter_key(iter, &size) == NULL && size == 0);
    CHECK(esker_iter_value(iter, &data, &size) == ESKER_NOT_FOUND && data == NULL && size == 0);
    CHECK(esker_iter_value_pinned(iter, value) == ESKER_NOT_FOUND && holds(value, NULL));
    CHECK(esker_iter_expiry(iter, &end) == ESKER_NOT_FOUND && end == 0);
    CHECK(esker_iter_next(iter) == ESKER_NOT_FOUND && esker_iter_prev(iter) == ESKER_NOT_FOUND);
    DO(esker_iter_seek_to_first(iter));
    CHECK(at(iter, "a", "1"));
    DO(esker_iter_next(iter));
    CHECK(at(iter, "b", "2"));
    DO(esker_iter_value_pinned(iter, value));
    DO(esker_iter_expiry(iter, &end));
    CHECK(end == 4000000000000u);
    DO(esker_iter_next(iter));
    CHECK(at(iter, "c", "") && holds(value, "2"));
    CHECK(esker_iter_next(iter) == ESKER_NOT_FOUND && esker_iter_valid(iter) == 0);
    DO(esker_iter_seek_to_last(iter));
    CHECK(at(iter, "c", ""));
    DO(esker_iter_prev(iter));
    CHECK(at(iter, "b", "2"));
    DO(esker_iter_next(iter));
    CHECK(at(iter, "c", ""));
    DO(esker_iter_seek(iter, S("aa")));
    CHECK(at(iter, "b", "2"));
    DO(esker_iter_seek_for_prev(iter, S("aa")));
    CHECK(at(iter, "a", "1"));
    CHECK(esker_iter_prev(iter) == ESKER_NOT_FOUND);
    CHECK(esker_iter_seek(iter, S("d")) == ESKER_NOT_FOUND);
    DO(esker_iter_seek(iter, NULL, 0));
    CHECK(at(iter, "a", "1"));
    /* Not wanted: nothing is told, nothing is written. */
    CHECK(is(esker_iter_key(iter, NULL), 1, "a"));
    DO(esker_iter_value(iter, NULL, NULL));
    DO(esker_iter_expiry(iter, NULL));
    esker_iter_free(iter);
    esker_iter_free(NULL);
    esker_value_free(value);
}

/* Key and value together. */
static void entries(esker_keyspace *ships) {
    esker_iter *iter;
    esker_bytes key = {"x", 9}, value = {"x", 9};
    DO(esker_iter_new(ships, NULL, NULL, 0, NULL, 0, 0, &iter));
    CHECK(esker_iter_entry(iter, &key, &value) == ESKER_NOT_FOUND);
    CHECK(key.data == NULL && key.size == 0 && value.data == NULL && value.size == 0);
    CHECK(esker_iter_next_entry(iter, &key, &value) == ESKER_NOT_FOUND);
    DO(esker_iter_seek_to_first(iter));
    DO(esker_iter_entry(iter, &key, &value));
    CHECK(is(key.data, key.size, "a") && is(value.data, value.size, "1"));
    DO(esker_iter_next_entry(iter, &key, &value));
    CHECK(is(key.data, key.size, "b") && is(value.data, value.size, "2"));
    CHECK(at(iter, "b", "2"));
    DO(esker_iter_next_entry(iter, &key, &value));
    CHECK(is(key.data, key.size, "c") && is(value.data, value.size, ""));
    DO(esker_iter_prev_entry(iter, NULL, &value));
    CHECK(is(value.data, value.size, "2"));
    DO(esker_iter_prev_entry(iter, &key, NULL));
    CHECK(is(key.data, key.size, "a"));
    CHECK(esker_iter_prev_entry(iter, &key, &value) == ESKER_NOT_FOUND);
    CHECK(key.data == NULL && value.data == NULL && esker_iter_valid(iter) == 0);
    key.size = value.size = 9;
    REFUSED(esker_iter_next_entry(NULL, &key, &value), ESKER_INVALID, "NULL");
    CHECK(key.size == 0 && value.size == 0);
    REFUSED(esker_iter_prev_entry(NULL, &key, &value), ESKER_INVALID, "NULL");
    REFUSED(esker_iter_entry(NULL, NULL, NULL), ESKER_INVALID, "NULL");
    esker_iter_free(iter);
}

/* To where it is, by bytes of its own that move away under it. */
static void own_key(esker_db *db, esker_keyspace *ships) {
    esker_tx *tx;
    esker_iter *iter;
    const void *key;
    size_t size;
    int round;
    DO(esker_tx_begin(db, ESKER_SERIALIZABLE, ESKER_OPTIMISTIC, 0, NULL, &tx));
    DO(esker_tx_iter_new(tx, ships, NULL, 0, NULL, 0, 0, &iter));
    for (round = 0; round < 2; round++) {
        DO(esker_iter_seek_to_last(iter));
        key = esker_iter_key(iter, &size);
        if (round == 0)
            DO(esker_iter_seek(iter, key, size));
        else
            DO(esker_iter_seek_for_prev(iter, key, size));
        CHECK(at(iter, "c", ""));
    }
    esker_iter_free(iter);
    DO(esker_tx_put(tx, ships, S("other"), S("1")));
    DO(esker_tx_commit(tx, 0));
    esker_tx_free(tx);
    DO(esker_delete(ships, S("other"), 0));
}

static void bounds(esker_keyspace *ships) {
    esker_iter *iter;
    DO(esker_iter_new(ships, NULL, S("b"), S("c"), ESKER_NO_FILL_CACHE, &iter));
    DO(esker_iter_seek_to_first(iter));
    CHECK(at(iter, "b", "2"));
    CHECK(esker_iter_next(iter) == ESKER_NOT_FOUND);
    DO(esker_iter_seek_to_last(iter));
    CHECK(at(iter, "b", "2"));
    CHECK(esker_iter_prev(iter) == ESKER_NOT_FOUND);
    DO(esker_iter_seek(iter, S("a")));
    CHECK(at(iter, "b", "2"));
    esker_iter_free(iter);
    DO(esker_iter_new(ships, NULL, S("c"), NULL, 0, 0, &iter));
    DO(esker_iter_seek_to_first(iter));
    CHECK(at(iter, "c", "") && esker_iter_next(iter) == ESKER_NOT_FOUND);
    esker_iter_free(iter);
    REFUSED(esker_iter_new(ships, NULL, NULL, 0, NULL, 0, 0x80, &iter), ESKER_INVALID, "flags");
    CHECK(iter == NULL);
}

static void moments(esker_db *db, esker_keyspace *ships) {
    esker_iter *now, *then;
    esker_snapshot *before;
    DO(esker_snapshot_new(db, NULL, &before));
    DO(esker_iter_new(ships, NULL, NULL, 0, NULL, 0, 0, &now));
    DO(esker_put(ships, S("d"), S("4"), 0));
    DO(esker_iter_new(ships, before, NULL, 0, NULL, 0, 0, &then));
    esker_snapshot_free(before);
    DO(esker_iter_seek_to_last(then));
    CHECK(at(then, "c", ""));
    DO(esker_iter_seek_to_last(now));
    CHECK(at(now, "c", ""));
    DO(esker_iter_refresh(now));
    CHECK(esker_iter_valid(now) == 0);
    DO(esker_iter_seek_to_last(now));
    CHECK(at(now, "d", "4"));
    DO(esker_iter_refresh(then));
    DO(esker_iter_seek(then, S("d")));
    CHECK(at(then, "d", "4"));
    esker_iter_free(now);
    esker_iter_free(then);
}

int main(void) {
    esker_db *db;
    esker_keyspace *ships;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    DO(esker_put(ships, S("a"), S("1"), 0));
    DO(esker_put_until(ships, S("b"), S("2"), 4000000000000u, 0));
    DO(esker_put(ships, S("c"), NULL, 0, 0));
    ways(ships);
    DO(esker_flush(ships));
    ways(ships);
    entries(ships);
    own_key(db, ships);
    bounds(ships);
    moments(db, ships);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
