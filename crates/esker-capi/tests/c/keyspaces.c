/* Keyspaces by name, their settings and sizes, and what is done to a whole database. */
#include "check.h"

static void names(esker_db *db) {
    const char one[8] = {1};
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_keyspace *ships, *visits, *again;
    esker_value *value = esker_value_new();
    char **all;
    char *name;
    size_t count;
    DO(esker_db_default(db, &ships));
    CHECK(esker_db_existing_keyspace(db, "visits", &visits) == ESKER_NOT_FOUND && visits == NULL);
    DO(esker_keyspace_options_set(options, "compression", "none"));
    DO(esker_keyspace_options_set(options, "merge_operator", "uint64add"));
    REFUSED(esker_keyspace_options_set(options, "compression", "pressed"), ESKER_INVALID,
            "compression");
    REFUSED(esker_keyspace_options_set(options, "memory_limit", "64MiB"), ESKER_INVALID,
            "memory_limit");
    DO(esker_db_keyspace(db, "visits", options, &visits));
    esker_keyspace_options_free(options);
    esker_keyspace_options_free(NULL);
    DO(esker_merge(visits, S("anna"), one, 8, 0));
    DO(esker_merge(visits, S("anna"), one, 8, 0));
    DO(esker_get(visits, NULL, S("anna"), 0, value));
    CHECK(((const char *)esker_value_data(value, NULL))[0] == 2);
    esker_value_free(value);
    CHECK(has(ships, NULL, "anna", NULL));
    DO(esker_db_existing_keyspace(db, "visits", &again));
    DO(esker_keyspace_name(again, &name));
    CHECK(strcmp(name, "visits") == 0);
    esker_string_free(name);
    esker_keyspace_free(again);
    DO(esker_keyspace_clone(visits, &again));
    esker_keyspace_free(visits);
    DO(esker_keyspace_set(again, "compression", "lz4"));
    REFUSED(esker_keyspace_set(again, "memory_limit", "64MiB"), ESKER_INVALID, "memory_limit");
    DO(esker_db_keyspace(db, "bare", NULL, &visits));
    esker_keyspace_free(visits);
    DO(esker_db_keyspaces(db, &all, &count));
    CHECK(count == 3 && strcmp(all[0], "bare") == 0 && strcmp(all[2], "visits") == 0);
    esker_strings_free(all, count);
    DO(esker_db_drop_keyspace(db, "visits"));
    REFUSED(esker_db_drop_keyspace(db, "visits"), ESKER_INVALID, "visits");
    REFUSED(esker_db_drop_keyspace(db, "default"), ESKER_INVALID, "default");
    CHECK(esker_put(again, S("anna"), S("3"), 0) == ESKER_INVALID);
    esker_keyspace_free(again);
    esker_keyspace_free(ships);
    esker_keyspace_free(NULL);
}

static void sizes(esker_db *db) {
    esker_keyspace *ships;
    esker_db *copy;
    uint64_t disk, memory, keys;
    char key[16];
    int number;
    DO(esker_db_default(db, &ships));
    for (number = 0; number < 1000; number++) {
        snprintf(key, sizeof key, "%04d", number);
        DO(esker_put(ships, S(key), S("in port"), 0));
    }
    DO(esker_approximate(ships, NULL, 0, NULL, 0, &disk, &memory, &keys));
    CHECK(memory > 0 && keys > 500 && keys < 2000);
    DO(esker_flush(ships));
    DO(esker_compact(ships, NULL, 0, NULL, 0));
    DO(esker_compact(ships, S("0100"), S("0200")));
    DO(esker_approximate(ships, S("0000"), NULL, 0, &disk, NULL, NULL));
    CHECK(disk > 0);
    DO(esker_approximate(ships, S("x"), NULL, 0, NULL, NULL, &keys));
    CHECK(keys < 500);
    DO(esker_db_flush(db));
    DO(esker_db_sync(db));
    DO(esker_db_verify(db));
    DO(esker_db_checkpoint(db, "copy"));
    REFUSED(esker_db_checkpoint(db, "copy"), ESKER_INVALID, "copy");
    esker_keyspace_free(ships);
    DO(esker_open("copy", &copy));
    DO(esker_db_default(copy, &ships));
    CHECK(has(ships, NULL, "0999", "in port"));
    esker_keyspace_free(ships);
    esker_db_free(copy);
}

int main(void) {
    esker_db *db;
    DO(esker_open("harbour", &db));
    names(db);
    sizes(db);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
