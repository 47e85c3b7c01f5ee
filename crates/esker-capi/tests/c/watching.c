/* What a database counts, and what it does, as it happens. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

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

/* Finds some of the numbers. */
static int number(void *given, const char *name, const char *labels, double told) {
    int *found = given;
    CHECK(strncmp(name, "esker_", 6) == 0);
    if (strcmp(name, "esker_write_entries_total") == 0)
        *found += labels[0] == 0 && told == 1;
    if (strcmp(name, "esker_state") == 0)
        *found += strcmp(labels, "state=\"open\"") == 0 && told == 1;
    return strcmp(name, "esker_transactions") == 0;
}

static void numbers(esker_db *db) {
    int found = 0;
    char *page;
    DO(esker_db_metrics(db, &page));
    CHECK(strstr(page, "\nesker_write_entries_total 1\n") != NULL);
    esker_string_free(page);
    DO(esker_db_numbers(db, number, &found));
    CHECK(found == 2);
}

/* What is told of the one that waits. */
struct waiting {
    int seen, waits;
    uint64_t holder;
};

static int transaction(void *given, const esker_tx_stats *told) {
    struct waiting *waiting = given;
    waiting->seen++;
    CHECK(told->age_ms < 3600000 && told->mode == ESKER_LOCKING);
    if (!told->is_waiting) {
        /* Or the other one, which has not come to wait yet. */
        if (told->owner == NULL)
            return 0;
        CHECK(strcmp(told->owner, "holder") == 0 && told->isolation == ESKER_SNAPSHOT);
        CHECK(told->locks == 2 && told->holders == NULL && told->holder_count == 0);
        CHECK(told->wanted_keyspace == NULL && told->wanted_key.data == NULL);
        waiting->holder = told->number;
        return 0;
    }
    CHECK(told->owner == NULL && told->isolation == ESKER_READ_COMMITTED);
    CHECK(strcmp(told->wanted_keyspace, "default") == 0 && told->waited_ms < 3600000);
    CHECK(is(told->wanted_key.data, told->wanted_key.size, "berth"));
    CHECK(told->holder_count == 1 && told->holders[0] == waiting->holder);
    waiting->waits = 1;
    return 1;
}

struct lock {
    esker_tx *tx;
    esker_keyspace *ships;
};

static void *lock(void *given) {
    struct lock *lock = given;
    DO(esker_tx_lock(lock->tx, lock->ships, S("berth"), ESKER_EXCLUSIVE));
    return NULL;
}

/* Of what the holder has: its keyspace announced, and the key. */
static int held(void *given, const esker_lock_stats *told) {
    int *seen = given;
    CHECK(strcmp(told->keyspace, "default") == 0 && told->held_ms < 3600000);
    if (++*seen == 1)
        CHECK(told->key.data == NULL && told->key.size == 0 && strcmp(told->mode, "IX") == 0);
    else
        CHECK(is(told->key.data, told->key.size, "berth") && strcmp(told->mode, "X") == 0);
    return 0;
}

static int no_more(void *given, const esker_lock_stats *told) {
    CHECK(told->keyspace != NULL);
    ++*(int *)given;
    return 1;
}

static void locks(esker_db *db, uint64_t holder) {
    int seen = 0;
    DO(esker_db_locks(db, holder, held, &seen));
    CHECK(seen == 2);
    DO(esker_db_locks(db, holder, no_more, &seen));
    CHECK(seen == 3);
    DO(esker_db_locks(db, holder + 1000, held, &seen));
    CHECK(seen == 3);
    REFUSED(esker_db_locks(NULL, holder, held, &seen), ESKER_INVALID, "NULL");
    REFUSED(esker_db_locks(db, holder, NULL, &seen), ESKER_INVALID, "NULL");
}

static int claimed(void *given, const esker_lock_stats *told) {
    CHECK(strcmp(told->keyspace, "default") == 0 && strcmp(told->mode, "X") == 0);
    CHECK(is(told->key.data, told->key.size, "cargo") && told->held_ms < 3600000);
    ++*(int *)given;
    return 0;
}

static void prepared(esker_db *db, esker_keyspace *ships) {
    esker_tx *tx;
    int seen = 0;
    DO(esker_tx_begin(db, ESKER_SNAPSHOT, ESKER_LOCKING, 0, NULL, &tx));
    DO(esker_tx_put(tx, ships, S("cargo"), S("tea")));
    DO(esker_tx_prepare(tx, S("voyage")));
    esker_tx_free(tx);
    DO(esker_db_prepared_locks(db, S("voyage"), claimed, &seen));
    CHECK(seen == 1);
    REFUSED(esker_db_prepared_locks(db, S("other"), claimed, &seen), ESKER_INVALID, "other");
    REFUSED(esker_db_prepared_locks(NULL, S("voyage"), claimed, &seen), ESKER_INVALID, "NULL");
    REFUSED(esker_db_prepared_locks(db, NULL, 6, claimed, &seen), ESKER_INVALID, "NULL");
    REFUSED(esker_db_prepared_locks(db, S("voyage"), NULL, &seen), ESKER_INVALID, "NULL");
    DO(esker_db_rollback_prepared(db, S("voyage"), 0));
}

static void transactions(esker_db *db, esker_keyspace *ships) {
    struct waiting waiting = {0, 0, 0};
    struct lock holder = {NULL, ships}, second = {NULL, ships};
    pthread_t thread;
    int tries;
    DO(esker_tx_begin(db, ESKER_SNAPSHOT, ESKER_LOCKING, 0, "holder", &holder.tx));
    DO(esker_tx_begin(db, ESKER_READ_COMMITTED, ESKER_LOCKING, 3600000, NULL, &second.tx));
    lock(&holder);
    CHECK(pthread_create(&thread, NULL, lock, &second) == 0);
    for (tries = 0; tries < 60000 && !waiting.waits; tries++) {
        waiting.seen = 0;
        DO(esker_db_transactions(db, transaction, &waiting));
        usleep(1000);
    }
    CHECK(waiting.waits && waiting.seen == 2);
    locks(db, waiting.holder);
    DO(esker_tx_commit(holder.tx, 0));
    CHECK(pthread_join(thread, NULL) == 0);
    esker_tx_free(holder.tx);
    esker_tx_free(second.tx);
}

static void pressure(esker_keyspace *ships) {
    esker_write_pressure told = {9, 9, 9, 9, 9};
    char *reason = (char *)&told;
    DO(esker_keyspace_pressure(ships, &told, &reason));
    CHECK(told.state == ESKER_WRITES_OPEN && told.is_parked == 0 && told.bytes_per_s == 0);
    CHECK(told.debt_bytes == 0 && reason == NULL);
    DO(esker_keyspace_pressure(ships, NULL, NULL));
    REFUSED(esker_keyspace_pressure(NULL, &told, &reason), ESKER_INVALID, "NULL");
}

static void nulls(esker_db *db) {
    char *page = "";
    REFUSED(esker_db_metrics(NULL, &page), ESKER_INVALID, "NULL");
    CHECK(page == NULL);
    REFUSED(esker_db_metrics(db, NULL), ESKER_INVALID, "NULL");
    REFUSED(esker_db_numbers(NULL, number, NULL), ESKER_INVALID, "NULL");
    REFUSED(esker_db_numbers(db, NULL, NULL), ESKER_INVALID, "NULL");
    REFUSED(esker_db_transactions(NULL, transaction, NULL), ESKER_INVALID, "NULL");
    REFUSED(esker_db_transactions(db, NULL, NULL), ESKER_INVALID, "NULL");
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
    numbers(db);
    pressure(ships);
    nulls(db);
    transactions(db, ships);
    prepared(db, ships);
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
