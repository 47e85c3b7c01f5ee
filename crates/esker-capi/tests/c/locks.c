/* Locks of transactions: shared, by name, of many keys or all; waits, and their ends. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static esker_db *db;
static esker_keyspace *ships;

static esker_tx *begin(int isolation, uint64_t lock_timeout_ms) {
    esker_tx *tx;
    DO(esker_tx_begin(db, isolation, ESKER_LOCKING, lock_timeout_ms, "test", &tx));
    return tx;
}

/* Whether a read of a transaction with those flags sees that value; none where that is NULL. */
static int sees(esker_tx *tx, uint32_t flags, const char *key, const char *text) {
    esker_value *value = esker_value_new();
    int code = esker_tx_get(tx, ships, S(key), flags, value);
    int so = code == (text == NULL ? ESKER_NOT_FOUND : ESKER_OK) && holds(value, text);
    esker_value_free(value);
    return so;
}

static void shared(void) {
    esker_tx *first = begin(ESKER_READ_COMMITTED, 0), *second = begin(ESKER_READ_COMMITTED, 0);
    esker_value *value = esker_value_new();
    DO(esker_tx_get_for_share(first, ships, S("anna"), value));
    CHECK(holds(value, "in port"));
    DO(esker_tx_get_for_share(second, ships, S("anna"), value));
    CHECK(holds(value, "in port"));
    CHECK(esker_tx_get_for_share(second, ships, S("nobody"), value) == ESKER_NOT_FOUND);
    CHECK(holds(value, NULL));
    CHECK(esker_tx_put(second, ships, S("anna"), S("x")) == ESKER_LOCK_TIMEOUT);
    REFUSED(esker_tx_lock(second, ships, S("anna"), ESKER_EXCLUSIVE), ESKER_LOCK_TIMEOUT, "anna");
    DO(esker_tx_lock(second, ships, S("anna"), ESKER_SHARED));
    REFUSED(esker_tx_lock(second, ships, S("anna"), 7), ESKER_INVALID, "ESKER_SHARED");
    DO(esker_tx_rollback(first, 0));
    DO(esker_tx_put(second, ships, S("anna"), S("in port")));
    /* A name that transactions agree on, and no key. */
    DO(esker_tx_lock(second, ships, S("captain"), ESKER_EXCLUSIVE));
    CHECK(esker_put(ships, S("captain"), S("x"), ESKER_NO_WAIT) == ESKER_BUSY);
    DO(esker_tx_commit(second, 0));
    REFUSED(esker_tx_lock(second, ships, S("anna"), ESKER_SHARED), ESKER_INVALID, "over");
    esker_tx_free(first);
    esker_tx_free(second);
    esker_value_free(value);
}

/* What was read under a lock and does not matter is given back, unless something was written. */
static void given_back(void) {
    esker_tx *first = begin(ESKER_READ_COMMITTED, 0), *second = begin(ESKER_READ_COMMITTED, 0);
    esker_tx *serializable = begin(ESKER_SERIALIZABLE, 0);
    esker_value *value = esker_value_new();
    uint64_t before = 9, after = 9;
    DO(esker_tx_lock_place(first, &before));
    CHECK(before == 0);
    DO(esker_tx_get_for_update(first, ships, S("anna"), value));
    DO(esker_tx_lock_place(first, &before));
    DO(esker_tx_get_for_update(first, ships, S("bela"), value));
    DO(esker_tx_lock_place(first, &after));
    CHECK(after > before);
    DO(esker_tx_unlock_since(first, before));
    DO(esker_tx_lock_place(first, &after));
    CHECK(after == before);
    DO(esker_tx_put(second, ships, S("bela"), S("x")));
    CHECK(esker_tx_put(second, ships, S("anna"), S("x")) == ESKER_LOCK_TIMEOUT);
    DO(esker_tx_put(first, ships, S("anna"), S("x")));
    DO(esker_tx_unlock_since(first, 0));
    CHECK(esker_tx_put(second, ships, S("anna"), S("x")) == ESKER_LOCK_TIMEOUT);
    REFUSED(esker_tx_unlock_since(serializable, 0), ESKER_INVALID, "serializable");
    DO(esker_tx_rollback(first, 0));
    REFUSED(esker_tx_unlock_since(first, 0), ESKER_INVALID, "over");
    after = 9;
    REFUSED(esker_tx_lock_place(first, &after), ESKER_INVALID, "over");
    CHECK(after == 0);
    esker_tx_free(first);
    esker_tx_free(second);
    esker_tx_free(serializable);
    esker_value_free(value);
}

static void many(void) {
    esker_bytes keys[3] = {{"bela", 4}, {"anna", 4}, {"dora", 4}};
    esker_value *values[3];
    esker_tx *first = begin(ESKER_READ_COMMITTED, 0), *second = begin(ESKER_READ_COMMITTED, 0);
    int place;
    for (place = 0; place < 3; place++)
        values[place] = esker_value_new();
    DO(esker_tx_multi_get_for_update(first, ships, keys, 3, values));
    CHECK(holds(values[0], "at sea") && holds(values[1], "in port") && holds(values[2], NULL));
    CHECK(esker_tx_multi_get_for_update(second, ships, &keys[2], 1, values) == ESKER_LOCK_TIMEOUT);
    CHECK(holds(values[0], NULL) && holds(values[1], "in port"));
    DO(esker_tx_multi_get_for_update(second, ships, NULL, 0, NULL));
    esker_tx_free(first);
    DO(esker_tx_multi_get_for_update(second, ships, &keys[1], 1, values));
    CHECK(holds(values[0], "in port"));
    esker_tx_free(second);
    for (place = 0; place < 3; place++)
        esker_value_free(values[place]);
}

static void whole(void) {
    esker_tx *first = begin(ESKER_READ_COMMITTED, 0), *second = begin(ESKER_READ_COMMITTED, 0);
    esker_tx *optimistic;
    DO(esker_tx_lock_keyspace(first, ships, ESKER_SHARED));
    DO(esker_tx_lock_keyspace(second, ships, ESKER_SHARED));
    CHECK(esker_tx_lock_keyspace(first, ships, ESKER_EXCLUSIVE) == ESKER_LOCK_TIMEOUT);
    CHECK(esker_tx_put(first, ships, S("new"), S("x")) == ESKER_LOCK_TIMEOUT);
    CHECK(esker_put(ships, S("new"), S("x"), ESKER_NO_WAIT) == ESKER_BUSY);
    esker_tx_free(second);
    DO(esker_tx_lock_keyspace(first, ships, ESKER_EXCLUSIVE));
    DO(esker_tx_put(first, ships, S("new"), S("x")));
    REFUSED(esker_tx_lock_keyspace(first, ships, -1), ESKER_INVALID, "ESKER_EXCLUSIVE");
    esker_tx_free(first);
    DO(esker_tx_begin(db, ESKER_SNAPSHOT, ESKER_OPTIMISTIC, 0, NULL, &optimistic));
    REFUSED(esker_tx_lock_keyspace(optimistic, ships, ESKER_SHARED), ESKER_INVALID, "optimistic");
    esker_tx_free(optimistic);
}

/* Of two the first to write wins, and the other one is told when it locks the key to read it. */
static void races(void) {
    esker_bytes key = {"anna", 4};
    esker_value *value = esker_value_new();
    esker_tx *late = begin(ESKER_SNAPSHOT, 0), *latest = begin(ESKER_READ_COMMITTED, 0);
    CHECK(sees(late, 0, "anna", "in port"));
    DO(esker_tx_set_snapshot(latest));
    DO(esker_put(ships, S("anna"), S("sold"), 0));
    REFUSED(esker_tx_get_for_update(late, ships, S("anna"), value), ESKER_CONFLICT, "anna");
    CHECK(holds(value, NULL) && esker_is_retryable(ESKER_CONFLICT) == 1);
    CHECK(esker_tx_multi_get_for_update(late, ships, &key, 1, &value) == ESKER_CONFLICT);
    CHECK(esker_tx_get_for_share(late, ships, S("anna"), value) == ESKER_CONFLICT);
    CHECK(esker_tx_lock(late, ships, S("anna"), ESKER_EXCLUSIVE) == ESKER_CONFLICT);
    CHECK(esker_tx_lock(late, ships, S("anna"), ESKER_SHARED) == ESKER_CONFLICT);
    /* It has what it had: its snapshot, and no lock. */
    CHECK(sees(late, 0, "anna", "in port"));
    DO(esker_put(ships, S("anna"), S("sold again"), 0));
    DO(esker_tx_put(late, ships, S("other"), S("x")));
    DO(esker_tx_commit(late, 0));
    esker_tx_free(late);
    /* Who reads the latest under the lock loses no race, whatever its plain reads see. */
    CHECK(sees(latest, 0, "anna", "in port"));
    DO(esker_tx_get_for_update(latest, ships, S("anna"), value));
    CHECK(holds(value, "sold again"));
    DO(esker_tx_put(latest, ships, S("anna"), S("in port")));
    DO(esker_tx_commit(latest, 0));
    esker_tx_free(latest);
    esker_value_free(value);
}

static void moments(void) {
    esker_bytes key = {"anna", 4};
    esker_value *value = esker_value_new();
    esker_tx *tx = begin(ESKER_READ_COMMITTED, 0);
    esker_iter *iter;
    DO(esker_tx_set_snapshot(tx));
    DO(esker_tx_put(tx, ships, S("own"), S("mine")));
    DO(esker_put(ships, S("anna"), S("at sea"), 0));
    CHECK(sees(tx, 0, "anna", "in port") && sees(tx, ESKER_LATEST, "anna", "at sea"));
    CHECK(sees(tx, ESKER_LATEST | ESKER_NO_FILL_CACHE, "own", "mine"));
    DO(esker_tx_multi_get(tx, ships, &key, 1, ESKER_LATEST, &value));
    CHECK(holds(value, "at sea"));
    DO(esker_tx_iter_new(tx, ships, S("anna"), NULL, 0, ESKER_LATEST, &iter));
    DO(esker_iter_seek_to_first(iter));
    CHECK(at(iter, "anna", "at sea"));
    DO(esker_iter_seek(iter, S("own")));
    CHECK(at(iter, "own", "mine"));
    esker_iter_free(iter);
    DO(esker_tx_set_snapshot(tx));
    CHECK(sees(tx, 0, "anna", "at sea"));
    DO(esker_put(ships, S("anna"), S("in port"), 0));
    CHECK(sees(tx, 0, "anna", "at sea"));
    DO(esker_tx_clear_snapshot(tx));
    CHECK(sees(tx, 0, "anna", "in port"));
    esker_tx_free(tx);
    /* The others have one snapshot for good. */
    tx = begin(ESKER_SNAPSHOT, 0);
    DO(esker_tx_set_snapshot(tx));
    DO(esker_put(ships, S("anna"), S("in dock"), 0));
    CHECK(sees(tx, 0, "anna", "in port") && sees(tx, ESKER_LATEST, "anna", "in dock"));
    REFUSED(esker_tx_set_snapshot(tx), ESKER_INVALID, "snapshot");
    DO(esker_tx_clear_snapshot(tx));
    CHECK(sees(tx, 0, "anna", "in port"));
    esker_tx_free(tx);
    tx = begin(ESKER_SERIALIZABLE, 0);
    CHECK(esker_tx_get(tx, ships, S("anna"), ESKER_LATEST, value) == ESKER_INVALID);
    REFUSED(esker_tx_get(tx, ships, S("anna"), 0x4, value), ESKER_INVALID, "flags");
    REFUSED(esker_get(ships, NULL, S("anna"), ESKER_LATEST, value), ESKER_INVALID, "flags");
    DO(esker_tx_commit(tx, 0));
    REFUSED(esker_tx_set_snapshot(tx), ESKER_INVALID, "over");
    esker_tx_free(tx);
    DO(esker_put(ships, S("anna"), S("in port"), 0));
    esker_value_free(value);
}

/* One who waits for a key that somebody else has, and what that came to. */
struct waiting {
    esker_tx *tx;
    int code;
};

static void *waits(void *given) {
    struct waiting *waiting = given;
    esker_value *value = esker_value_new();
    waiting->code = esker_tx_get_for_update(waiting->tx, ships, S("anna"), value);
    CHECK(waiting->code == ESKER_OK || esker_errmsg()[0] != 0);
    esker_value_free(value);
    return NULL;
}

/* Returns once somebody waits for a lock. */
static void until_somebody_waits(void) {
    int tries;
    for (tries = 0; tries < 60000; tries++) {
        char *stats;
        int is_waiting;
        DO(esker_db_stats(db, &stats));
        is_waiting = strstr(stats, "held up by") != NULL;
        esker_string_free(stats);
        if (is_waiting)
            return;
        usleep(1000);
    }
    CHECK(!"somebody waits");
}

static void ends(void) {
    esker_tx *holder = begin(ESKER_READ_COMMITTED, 0), *other;
    struct waiting waiting = {begin(ESKER_READ_COMMITTED, 3600000), -1};
    esker_interrupter *interrupter, *again, *early;
    pthread_t thread;
    DO(esker_tx_put(holder, ships, S("anna"), S("held")));
    DO(esker_tx_interrupter(waiting.tx, &interrupter));
    DO(esker_tx_interrupter(waiting.tx, &again));
    /* In the middle of a wait of an hour. */
    CHECK(pthread_create(&thread, NULL, waits, &waiting) == 0);
    until_somebody_waits();
    DO(esker_interrupt(interrupter));
    CHECK(pthread_join(thread, NULL) == 0 && waiting.code == ESKER_INTERRUPTED);
    /* Each wait from then on, and not what is free. */
    REFUSED(esker_tx_lock(waiting.tx, ships, S("anna"), ESKER_SHARED), ESKER_INTERRUPTED, "wait");
    DO(esker_tx_lock(waiting.tx, ships, S("free"), ESKER_EXCLUSIVE));
    /* It waits again, and gets it when the other one ends. */
    DO(esker_tx_clear_interrupt(waiting.tx));
    CHECK(pthread_create(&thread, NULL, waits, &waiting) == 0);
    until_somebody_waits();
    DO(esker_tx_rollback(holder, 0));
    CHECK(pthread_join(thread, NULL) == 0 && waiting.code == ESKER_OK);
    /* How long is said anew. */
    other = begin(ESKER_READ_COMMITTED, 3600000);
    DO(esker_tx_set_lock_timeout(other, 1));
    CHECK(esker_tx_lock(other, ships, S("anna"), ESKER_SHARED) == ESKER_LOCK_TIMEOUT);
    DO(esker_tx_set_lock_timeout(other, ESKER_LOCK_TIMEOUT_DEFAULT));
    /* Handles outlive the transaction, and do nothing then. */
    DO(esker_tx_interrupter(other, &early));
    DO(esker_tx_commit(waiting.tx, 0));
    DO(esker_interrupt(again));
    esker_interrupter_free(again);
    REFUSED(esker_tx_interrupter(waiting.tx, &again), ESKER_INVALID, "over");
    CHECK(again == NULL);
    REFUSED(esker_tx_clear_interrupt(waiting.tx), ESKER_INVALID, "over");
    REFUSED(esker_tx_set_lock_timeout(waiting.tx, 1), ESKER_INVALID, "over");
    esker_tx_free(waiting.tx);
    esker_tx_free(holder);
    esker_tx_free(other);
    DO(esker_interrupt(interrupter));
    esker_interrupter_free(interrupter);
    DO(esker_interrupt(early));
    esker_interrupter_free(early);
}

#define NEEDS(call) REFUSED(call, ESKER_INVALID, "NULL")

static void nulls(void) {
    esker_bytes key = {"anna", 4};
    esker_value *value = esker_value_new(), *none = NULL;
    esker_interrupter *interrupter = (esker_interrupter *)&key;
    esker_tx *tx = begin(ESKER_READ_COMMITTED, 0);
    uint64_t place = 0;
    NEEDS(esker_tx_get_for_share(NULL, ships, S("a"), value));
    NEEDS(esker_tx_get_for_share(tx, NULL, S("a"), value));
    NEEDS(esker_tx_get_for_share(tx, ships, NULL, 1, value));
    NEEDS(esker_tx_get_for_share(tx, ships, S("a"), NULL));
    NEEDS(esker_tx_multi_get_for_update(NULL, ships, &key, 1, &value));
    NEEDS(esker_tx_multi_get_for_update(tx, NULL, &key, 1, &value));
    NEEDS(esker_tx_multi_get_for_update(tx, ships, NULL, 1, &value));
    NEEDS(esker_tx_multi_get_for_update(tx, ships, &key, 1, NULL));
    NEEDS(esker_tx_multi_get_for_update(tx, ships, &key, 1, &none));
    NEEDS(esker_tx_lock(NULL, ships, S("a"), ESKER_SHARED));
    NEEDS(esker_tx_lock(tx, NULL, S("a"), ESKER_SHARED));
    NEEDS(esker_tx_lock(tx, ships, NULL, 1, ESKER_SHARED));
    NEEDS(esker_tx_lock_keyspace(NULL, ships, ESKER_SHARED));
    NEEDS(esker_tx_lock_keyspace(tx, NULL, ESKER_SHARED));
    NEEDS(esker_tx_lock_place(NULL, &place));
    NEEDS(esker_tx_lock_place(tx, NULL));
    NEEDS(esker_tx_unlock_since(NULL, 0));
    NEEDS(esker_tx_set_lock_timeout(NULL, 0));
    NEEDS(esker_tx_interrupter(NULL, &interrupter));
    CHECK(interrupter == NULL);
    NEEDS(esker_tx_interrupter(tx, NULL));
    NEEDS(esker_interrupt(NULL));
    esker_interrupter_free(NULL);
    NEEDS(esker_tx_clear_interrupt(NULL));
    NEEDS(esker_tx_set_snapshot(NULL));
    NEEDS(esker_tx_clear_snapshot(NULL));
    esker_tx_free(tx);
    esker_value_free(value);
}

int main(void) {
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    DO(esker_put(ships, S("anna"), S("in port"), 0));
    DO(esker_put(ships, S("bela"), S("at sea"), 0));
    shared();
    given_back();
    many();
    whole();
    races();
    moments();
    ends();
    nulls();
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
