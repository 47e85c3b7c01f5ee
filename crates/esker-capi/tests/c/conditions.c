/* Writes that depend on what is there. */
#include "check.h"

int main(void) {
    esker_db *db;
    esker_keyspace *ships;
    uint64_t end;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    DO(esker_put_if_absent(ships, S("anna"), S("in port"), ESKER_SYNC));
    CHECK(esker_put_if_absent(ships, S("anna"), S("at sea"), 0) == ESKER_UNCHANGED);
    CHECK(has(ships, NULL, "anna", "in port"));
    CHECK(esker_compare_and_swap(ships, S("anna"), S("at sea"), S("sunk"), 0) == ESKER_UNCHANGED);
    DO(esker_compare_and_swap(ships, S("anna"), S("in port"), S("at sea"), 0));
    CHECK(has(ships, NULL, "anna", "at sea"));
    /* NULL is no value: expected to be absent, deleted. */
    CHECK(esker_compare_and_swap(ships, S("anna"), NULL, 0, S("new"), 0) == ESKER_UNCHANGED);
    DO(esker_compare_and_swap(ships, S("bela"), NULL, 0, "", 0, 0));
    CHECK(has(ships, NULL, "bela", ""));
    CHECK(esker_compare_and_swap(ships, S("bela"), NULL, 0, S("new"), 0) == ESKER_UNCHANGED);
    DO(esker_compare_and_swap(ships, S("bela"), "", 0, NULL, 0, 0));
    CHECK(has(ships, NULL, "bela", NULL));
    DO(esker_set_expiry(ships, S("anna"), 4000000000000u, 0));
    DO(esker_expiry(ships, NULL, S("anna"), 0, &end));
    CHECK(end == 4000000000000u);
    DO(esker_set_expiry(ships, S("anna"), 0, ESKER_SYNC));
    DO(esker_expiry(ships, NULL, S("anna"), 0, &end));
    CHECK(end == 0);
    CHECK(esker_set_expiry(ships, S("bela"), 0, 0) == ESKER_NOT_FOUND);
    DO(esker_delete_if_present(ships, S("anna"), 0));
    CHECK(esker_delete_if_present(ships, S("anna"), 0) == ESKER_NOT_FOUND);
    REFUSED(esker_put_if_absent(ships, S("anna"), S("x"), 0x40), ESKER_INVALID, "flags");
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
