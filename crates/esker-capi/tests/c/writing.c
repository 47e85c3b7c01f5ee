/* Single writes: what they survive, how long they live, ranges and merges. */
#include "check.h"

static void lives(esker_keyspace *ships) {
    uint64_t end;
    DO(esker_put_with_ttl(ships, S("pilot"), S("on board"), 3600000, 0));
    DO(esker_expiry(ships, NULL, S("pilot"), 0, &end));
    CHECK(end > 1600000000000u);
    DO(esker_put_until(ships, S("pilot"), S("on board"), 4000000000000u, ESKER_BUFFERED));
    DO(esker_expiry(ships, NULL, S("pilot"), 0, &end));
    CHECK(end == 4000000000000u);
    DO(esker_put_until(ships, S("pilot"), S("ashore"), 1, 0));
    CHECK(has(ships, NULL, "pilot", NULL));
    DO(esker_put_until(ships, S("pilot"), S("for good"), 0, 0));
    DO(esker_expiry(ships, NULL, S("pilot"), 0, &end));
    CHECK(end == 0 && has(ships, NULL, "pilot", "for good"));
    DO(esker_expiry(ships, NULL, S("pilot"), 0, NULL));
}

static void ranges(esker_keyspace *ships) {
    DO(esker_put(ships, S("a"), S("1"), ESKER_MEMORY));
    DO(esker_put(ships, S("b"), S("2"), ESKER_SYNC));
    DO(esker_put(ships, S("c"), S("3"), ESKER_SYNC | ESKER_NO_WAIT));
    DO(esker_delete_range(ships, S("b"), S("c"), 0));
    CHECK(has(ships, NULL, "a", "1") && has(ships, NULL, "b", NULL) && has(ships, NULL, "c", "3"));
    DO(esker_delete_range(ships, NULL, 0, S("b"), ESKER_SYNC));
    CHECK(has(ships, NULL, "a", NULL) && has(ships, NULL, "pilot", "for good"));
    DO(esker_delete(ships, S("pilot"), ESKER_SYNC));
    DO(esker_delete(ships, S("pilot"), 0));
    CHECK(has(ships, NULL, "pilot", NULL));
    DO(esker_delete_range(ships, S("c"), NULL, 0, 0));
    CHECK(has(ships, NULL, "c", NULL));
}

static void refusals(esker_keyspace *ships) {
    char *long_key = calloc(70000, 1);
    CHECK(long_key != NULL);
    CHECK(esker_put(ships, long_key, 70000, S("x"), 0) == ESKER_TOO_LARGE);
    free(long_key);
    REFUSED(esker_put(ships, S("a"), S("1"), 0x40), ESKER_INVALID, "0x40");
    /* A negative number that became a size. */
    REFUSED(esker_put(ships, S("a"), "1", (size_t)-1, 0), ESKER_INVALID, "value");
    REFUSED(esker_merge(ships, S("a"), S("1"), 0), ESKER_INVALID, "merge operator");
    CHECK(has(ships, NULL, "a", NULL));
}

int main(void) {
    esker_db *db;
    esker_keyspace *ships;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    lives(ships);
    ranges(ships);
    refusals(ships);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
