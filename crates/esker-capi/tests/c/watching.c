/* What a database counts, and what it does, as it happens. */
#include "check.h"

struct heard {
    int flushes, closed, ended;
};

static void hear(void *given, const char *line) {
    struct heard *heard = given;
    heard->flushes += strncmp(line, "flush_end", 9) == 0;
    heard->closed += strncmp(line, "database_closed", 15) == 0;
}

static void end(void *given) {
    ((struct heard *)given)->ended++;
}

/* Adds up how many there are, and ends at the one that counts compactions. */
struct counted {
    int count;
    uint64_t hits;
};

static int count(void *given, const char *name, const char *meaning, uint64_t value) {
    struct counted *counted = given;
    CHECK(strlen(meaning) > 5);
    counted->count++;
    if (strcmp(name, "esker_block_cache_hits_total") != 0)
        return 0;
    counted->hits = value + 1;
    return 1;
}

int main(void) {
    struct heard heard = {0, 0, 0};
    struct counted first = {0, 0}, second = {0, 0};
    esker_builder *builder;
    esker_db *db;
    esker_keyspace *ships;
    char **texts;
    size_t size;
    int round;
    DO(esker_builder_new("harbour", &builder));
    DO(esker_builder_event_listener(builder, hear, &heard, end));
    DO(esker_builder_open(builder, &db));
    esker_builder_free(builder);
    DO(esker_db_default(db, &ships));
    DO(esker_put(ships, S("anna"), S("at sea"), 0));
    DO(esker_flush_soon(ships));
    DO(esker_flush(ships));
    DO(esker_db_counters(db, count, &first));
    for (round = 0; round < 10; round++)
        CHECK(has(ships, NULL, "anna", "at sea"));
    DO(esker_db_counters(db, count, &second));
    CHECK(first.count == second.count && first.hits > 0 && second.hits >= first.hits + 9);
    DO(esker_keyspace_set(ships, "compression", "none"));
    DO(esker_keyspace_settings(ships, &texts, &size));
    CHECK(size >= 2 && size % 2 == 0);
    for (round = 0; round < (int)size; round += 2)
        if (strcmp(texts[round], "compression") == 0)
            CHECK(strcmp(texts[round + 1], "none") == 0);
    esker_strings_free(texts, size);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    CHECK(heard.flushes > 0 && heard.closed == 1);
    esker_db_free(db);
    CHECK(heard.ended == 1);
    return 0;
}
