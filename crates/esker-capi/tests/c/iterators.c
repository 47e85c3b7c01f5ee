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
    bounds(ships);
    moments(db, ships);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
