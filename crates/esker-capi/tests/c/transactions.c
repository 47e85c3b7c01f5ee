/* Transactions: what they see, what makes them fail, savepoints, two phases. */
#include "check.h"
#include <pthread.h>

static esker_db *db;
static esker_keyspace *ships;

static esker_tx *begin(int isolation, int mode, uint64_t lock_timeout_ms) {
    esker_tx *tx;
    DO(esker_tx_begin(db, isolation, mode, lock_timeout_ms, "test", &tx));
    return tx;
}

static esker_tx *optimistic(void) {
    return begin(ESKER_SNAPSHOT, ESKER_OPTIMISTIC, ESKER_LOCK_TIMEOUT_DEFAULT);
}

/* Whether a transaction sees that value of a key; none where that is NULL. */
static int sees(esker_tx *tx, const char *key, const char *text) {
    esker_value *value = esker_value_new();
    int code = esker_tx_get(tx, ships, S(key), 0, value);
    int so = code == (text == NULL ? ESKER_NOT_FOUND : ESKER_OK) && holds(value, text);
    esker_value_free(value);
    return so;
}

static void writes(void) {
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_keyspace *crews;
    esker_bytes keys[2] = {{"anna", 4}, {"bela", 4}};
    esker_value *values[2];
    esker_iter *iter;
    esker_tx *tx;
    uint64_t count, size, end;
    DO(esker_keyspace_options_set(options, "merge_operator", "append:,"));
    DO(esker_db_keyspace(db, "crews", options, &crews));
    esker_keyspace_options_free(options);
    DO(esker_put(ships, S("old1"), S("x"), 0));
    DO(esker_put(ships, S("old2"), S("x"), 0));
    values[0] = esker_value_new();
    values[1] = esker_value_new();
    tx = optimistic();
    DO(esker_tx_put(tx, ships, S("anna"), S("at sea")));
    DO(esker_tx_put_with_ttl(tx, ships, S("pilot"), S("on board"), 3600000));
    DO(esker_tx_put_until(tx, ships, S("tide"), S("high"), 4000000000000u));
    DO(esker_tx_set_expiry(tx, ships, S("tide"), 0));
    CHECK(esker_tx_set_expiry(tx, ships, S("nobody"), 0) == ESKER_NOT_FOUND);
    DO(esker_tx_delete_range(tx, ships, S("old"), S("old2")));
    DO(esker_tx_delete(tx, ships, S("old2")));
    DO(esker_tx_merge(tx, crews, S("anna"), S("carla")));
    DO(esker_tx_size(tx, &count, &size));
    CHECK(count >= 7 && size > 40);
    DO(esker_tx_size(tx, NULL, NULL));
    CHECK(sees(tx, "anna", "at sea") && sees(tx, "old1", NULL) && sees(tx, "old2", NULL));
    DO(esker_tx_multi_get(tx, ships, keys, 2, 0, values));
    CHECK(holds(values[0], "at sea") && holds(values[1], NULL));
    DO(esker_tx_iter_new(tx, ships, S("a"), S("u"), ESKER_NO_FILL_CACHE, &iter));
    DO(esker_iter_seek_to_first(iter));
    CHECK(at(iter, "anna", "at sea"));
    DO(esker_iter_seek_to_last(iter));
    CHECK(at(iter, "tide", "high"));
    DO(esker_iter_prev(iter));
    CHECK(at(iter, "pilot", "on board"));
    CHECK(esker_iter_refresh(iter) == ESKER_INVALID);
    esker_iter_free(iter);
    /* Nobody else sees any of it before the commit. */
    CHECK(has(ships, NULL, "anna", NULL) && has(ships, NULL, "old1", "x"));
    REFUSED(esker_tx_commit(tx, 0x40), ESKER_INVALID, "flags");
    DO(esker_tx_commit(tx, ESKER_SYNC));
    CHECK(has(ships, NULL, "anna", "at sea") && has(ships, NULL, "old1", NULL));
    CHECK(has(crews, NULL, "anna", "carla"));
    DO(esker_expiry(ships, NULL, S("tide"), 0, &end));
    CHECK(end == 0);
    REFUSED(esker_tx_put(tx, ships, S("a"), S("1")), ESKER_INVALID, "over");
    REFUSED(esker_tx_commit(tx, 0), ESKER_INVALID, "over");
    esker_tx_free(tx);
    tx = optimistic();
    DO(esker_tx_put(tx, ships, S("anna"), S("lost")));
    DO(esker_tx_rollback(tx, 0));
    esker_tx_free(tx);
    tx = optimistic();
    DO(esker_tx_put(tx, ships, S("anna"), S("lost too")));
    esker_tx_free(tx);
    CHECK(has(ships, NULL, "anna", "at sea"));
    esker_value_free(values[0]);
    esker_value_free(values[1]);
    esker_keyspace_free(crews);
}

static void meetings(void) {
    esker_tx *first = optimistic(), *second = optimistic();
    esker_value *value = esker_value_new();
    DO(esker_tx_put(first, ships, S("berth"), S("anna")));
    DO(esker_tx_put(second, ships, S("berth"), S("bela")));
    DO(esker_tx_commit(first, 0));
    CHECK(esker_tx_commit(second, 0) == ESKER_CONFLICT);
    CHECK(esker_is_retryable(ESKER_CONFLICT) == 1);
    esker_tx_free(first);
    esker_tx_free(second);
    /* Of two that lock, the second hears it at once if it does not wait. */
    first = begin(ESKER_READ_COMMITTED, ESKER_LOCKING, 0);
    second = begin(ESKER_SERIALIZABLE, ESKER_LOCKING, 0);
    DO(esker_tx_get_for_update(first, ships, S("berth"), value));
    CHECK(holds(value, "anna"));
    CHECK(esker_tx_get_for_update(second, ships, S("berth"), value) == ESKER_LOCK_TIMEOUT);
    CHECK(holds(value, NULL));
    CHECK(esker_tx_put(second, ships, S("berth"), S("bela")) == ESKER_LOCK_TIMEOUT);
    DO(esker_tx_put(second, ships, S("other"), S("bela")));
    CHECK(esker_tx_get_for_update(first, ships, S("nobody"), value) == ESKER_NOT_FOUND);
    DO(esker_tx_commit(first, 0));
    DO(esker_tx_commit(second, 0));
    CHECK(has(ships, NULL, "other", "bela"));
    esker_tx_free(first);
    esker_tx_free(second);
    esker_value_free(value);
}

static void savepoints(void) {
    esker_tx *tx = optimistic();
    uint64_t first, second, third;
    DO(esker_tx_put(tx, ships, S("s1"), S("1")));
    DO(esker_tx_savepoint(tx, &first));
    DO(esker_tx_put(tx, ships, S("s2"), S("2")));
    DO(esker_tx_savepoint(tx, &second));
    DO(esker_tx_put(tx, ships, S("s3"), S("3")));
    DO(esker_tx_savepoint(tx, &third));
    CHECK(first != second && second != third && first != third);
    DO(esker_tx_put(tx, ships, S("s4"), S("4")));
    /* Back over one that lies between; that one is gone, the other stays. */
    DO(esker_tx_rollback_to(tx, second));
    CHECK(sees(tx, "s4", NULL) && sees(tx, "s3", NULL) && sees(tx, "s2", "2"));
    REFUSED(esker_tx_rollback_to(tx, third), ESKER_INVALID, "savepoint");
    REFUSED(esker_tx_release(tx, third), ESKER_INVALID, "savepoint");
    DO(esker_tx_put(tx, ships, S("s3"), S("again")));
    DO(esker_tx_rollback_to(tx, second));
    CHECK(sees(tx, "s3", NULL) && sees(tx, "s2", "2"));
    DO(esker_tx_put(tx, ships, S("s5"), S("5")));
    /* Released with those on top of it: what was written stays. */
    DO(esker_tx_release(tx, first));
    REFUSED(esker_tx_rollback_to(tx, first), ESKER_INVALID, "savepoint");
    REFUSED(esker_tx_rollback_to(tx, second), ESKER_INVALID, "savepoint");
    DO(esker_tx_savepoint(tx, &third));
    CHECK(third > second);
    DO(esker_tx_commit(tx, 0));
    REFUSED(esker_tx_rollback_to(tx, third), ESKER_INVALID, "over");
    CHECK(has(ships, NULL, "s1", "1") && has(ships, NULL, "s2", "2"));
    CHECK(has(ships, NULL, "s3", NULL) && has(ships, NULL, "s5", "5"));
    esker_tx_free(tx);
}

/* Counts what is prepared, and ends after so many. */
struct told {
    int count, most;
    char id[16];
};

static int tell(void *state, const void *id, size_t id_size, uint64_t writes, uint64_t age_ms) {
    struct told *told = state;
    CHECK(id_size < sizeof told->id && writes == 1 && age_ms < 3600000);
    memcpy(told->id, id, id_size);
    told->id[id_size] = 0;
    told->count++;
    return told->count == told->most;
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int durable = -1;

static void is_durable(void *state, int code) {
    pthread_mutex_lock(&guard);
    *(int *)state = code;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&guard);
}

/* Ends a transaction that another thread made. */
static void *finish(void *given) {
    DO(esker_tx_commit_ordered(given));
    REFUSED(esker_tx_commit(given, 0), ESKER_INVALID, "esker_tx_finish");
    return NULL;
}

static esker_tx *prepared(const char *id) {
    esker_tx *tx = begin(ESKER_READ_COMMITTED, ESKER_LOCKING, 1000);
    DO(esker_tx_put(tx, ships, S(id), S("prepared")));
    REFUSED(esker_tx_finish(tx, 0), ESKER_INVALID, "neither prepared");
    REFUSED(esker_tx_commit_ordered(tx), ESKER_INVALID, "neither prepared");
    DO(esker_tx_prepare(tx, S(id)));
    return tx;
}

static void phases(void) {
    struct told told = {0, 9, ""};
    esker_tx *tx;
    pthread_t thread;
    tx = prepared("p1");
    REFUSED(esker_tx_put(tx, ships, S("a"), S("1")), ESKER_INVALID, "prepared");
    REFUSED(esker_tx_prepare(tx, S("p1")), ESKER_INVALID, "prepared");
    DO(esker_db_prepared(db, tell, &told));
    CHECK(told.count == 1 && strcmp(told.id, "p1") == 0);
    DO(esker_tx_commit(tx, ESKER_SYNC));
    CHECK(has(ships, NULL, "p1", "prepared"));
    esker_tx_free(tx);
    tx = prepared("p2");
    DO(esker_tx_rollback(tx, 0));
    CHECK(has(ships, NULL, "p2", NULL));
    esker_tx_free(tx);
    tx = prepared("p3");
    CHECK(pthread_create(&thread, NULL, finish, tx) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(has(ships, NULL, "p3", "prepared"));
    DO(esker_tx_finish(tx, ESKER_SYNC));
    REFUSED(esker_tx_finish(tx, 0), ESKER_INVALID, "over");
    esker_tx_free(tx);
    /* Freed, they stay prepared; ended by their ids, also after a close. */
    esker_tx_free(prepared("p4"));
    esker_tx_free(prepared("p5"));
    DO(esker_db_notify_when_durable(db, is_durable, &durable));
    pthread_mutex_lock(&guard);
    while (durable == -1)
        pthread_cond_wait(&changed, &guard);
    pthread_mutex_unlock(&guard);
    CHECK(durable == ESKER_OK);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    told.count = 0;
    DO(esker_db_prepared(db, tell, &told));
    CHECK(told.count == 2);
    told.count = 0;
    told.most = 1;
    DO(esker_db_prepared(db, tell, &told));
    CHECK(told.count == 1);
    DO(esker_db_commit_prepared(db, S("p4"), ESKER_SYNC));
    DO(esker_db_rollback_prepared(db, S("p5"), 0));
    CHECK(esker_db_commit_prepared(db, S("p5"), 0) == ESKER_INVALID);
    CHECK(esker_db_rollback_prepared(db, S("p4"), 0) == ESKER_INVALID);
    CHECK(has(ships, NULL, "p4", "prepared") && has(ships, NULL, "p5", NULL));
}

int main(void) {
    esker_tx *tx;
    esker_db *other;
    esker_keyspace *strange;
    esker_value *value = esker_value_new();
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    writes();
    meetings();
    savepoints();
    phases();
    REFUSED(esker_tx_begin(db, 9, ESKER_LOCKING, 0, NULL, &tx), ESKER_INVALID, "isolation");
    REFUSED(esker_tx_begin(db, ESKER_SNAPSHOT, 9, 0, NULL, &tx), ESKER_INVALID, "mode");
    CHECK(tx == NULL);
    /* A keyspace of another database is refused, and nothing ends. */
    DO(esker_open("other", &other));
    DO(esker_db_default(other, &strange));
    tx = optimistic();
    REFUSED(esker_tx_get(tx, strange, S("a"), 0, value), ESKER_INVALID, "another database");
    REFUSED(esker_tx_put(tx, strange, S("a"), S("1")), ESKER_INVALID, "another database");
    esker_keyspace_free(strange);
    esker_db_free(other);
    DO(esker_db_close(db));
    CHECK(esker_tx_get(tx, ships, S("a"), 0, value) == ESKER_CLOSED);
    CHECK(esker_tx_commit(tx, 0) == ESKER_OK || strstr(esker_errmsg(), "closed") != NULL);
    esker_tx_free(tx);
    esker_value_free(value);
    esker_keyspace_free(ships);
    esker_db_free(db);
    return 0;
}
