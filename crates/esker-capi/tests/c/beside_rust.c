/* In one program with another static library that rustc made, and its own standard library. */
#include "check.h"

/* Of that library: 1 if it caught a panic of its own. */
int tiny_catches(void);

int main(void) {
    esker_db *db;
    esker_keyspace *ships;
    CHECK(tiny_catches() == 1);
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    DO(esker_put(ships, S("anna"), S("at sea"), ESKER_SYNC));
    CHECK(has(ships, NULL, "anna", "at sea"));
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    CHECK(tiny_catches() == 1);
    return 0;
}
