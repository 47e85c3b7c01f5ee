/* Keyspaces in no log but the program's own: marks, clocks, and flushes that wait for that log. */
#include "check.h"
#include <pthread.h>

#define NEEDS(call) REFUSED(call, ESKER_INVALID, "NULL")

/* A log that is durable up to some mark of one letter. */
static struct own {
    pthread_mutex_t guard;
    pthread_cond_t changed;
    char durable, asked, flushed;
    int ended;
} own = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 'a', 0, 0, 0};

static int is_durable(void *state, const char *keyspace, const void *mark, size_t mark_size) {
    int answer;
    CHECK(state == &own && strcmp(keyspace, "applied") == 0 && mark_size == 1);
    pthread_mutex_lock(&own.guard);
    own.asked = *(const char *)mark;
    answer = own.asked <= own.durable;
    pthread_cond_broadcast(&own.changed);
    pthread_mutex_unlock(&own.guard);
    return answer;
}

static void flushed(void *state, const char *keyspace, const void *mark, size_t mark_size) {
    CHECK(state == &own && strcmp(keyspace, "applied") == 0 && mark_size == 1);
    pthread_mutex_lock(&own.guard);
    own.flushed = *(const char *)mark;
    pthread_cond_broadcast(&own.changed);
    pthread_mutex_unlock(&own.guard);
}

static void end(void *state) {
    ((struct own *)state)->ended++;
}

/* Returns once the log was asked for that mark, or told that all up to it is flushed. */
static void until(const char *which, char mark) {
    pthread_mutex_lock(&own.guard);
    while (*which != mark)
        pthread_cond_wait(&own.changed, &own.guard);
    pthread_mutex_unlock(&own.guard);
}

static int marks(int (*read)(const esker_keyspace *, esker_value *), esker_keyspace *keyspace,
                 const char *text) {
    esker_value *value = esker_value_new();
    int code = read(keyspace, value);
    int so = code == (text == NULL ? ESKER_NOT_FOUND : ESKER_OK) && holds(value, text);
    esker_value_free(value);
    return so;
}

static void nulls(esker_db *db, esker_keyspace *applied) {
    esker_batch *batch;
    esker_builder *builder;
    esker_value *value = esker_value_new();
    uint64_t now = 9;
    int before = own.ended;
    DO(esker_builder_new("x", &builder));
    NEEDS(esker_builder_own_log(NULL, is_durable, flushed, &own, end));
    NEEDS(esker_builder_own_log(builder, NULL, flushed, &own, end));
    CHECK(own.ended == before + 2);
    esker_builder_free(builder);
    DO(esker_batch_new(db, &batch));
    NEEDS(esker_batch_mark(NULL, applied, S("a")));
    NEEDS(esker_batch_mark(batch, NULL, S("a")));
    NEEDS(esker_batch_mark(batch, applied, NULL, 1));
    NEEDS(esker_batch_mark_at(NULL, applied, S("a"), 1));
    NEEDS(esker_batch_mark_at(batch, NULL, S("a"), 1));
    NEEDS(esker_batch_mark_at(batch, applied, NULL, 1, 1));
    CHECK(esker_batch_mark(batch, applied, NULL, 0) == ESKER_TOO_LARGE);
    CHECK(esker_batch_count(batch) == 0);
    esker_batch_free(batch);
    NEEDS(esker_mark(NULL, value));
    NEEDS(esker_mark(applied, NULL));
    NEEDS(esker_flushed_mark(NULL, value));
    NEEDS(esker_flushed_mark(applied, NULL));
    NEEDS(esker_clock(NULL, &now));
    CHECK(now == 0);
    DO(esker_clock(applied, NULL));
    NEEDS(esker_own_log_is_durable(NULL));
    esker_value_free(value);
}

int main(void) {
    esker_builder *builder;
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_write_pressure pressure;
    esker_keyspace *applied, *plain;
    esker_batch *batch;
    esker_db *db;
    char *reason;
    uint64_t now = 9;
    int tries;
    DO(esker_builder_new("harbour", &builder));
    DO(esker_builder_own_log(builder, is_durable, flushed, &own, end));
    DO(esker_builder_open(builder, &db));
    DO(esker_keyspace_options_set(options, "unlogged", "true"));
    DO(esker_keyspace_options_set(options, "own_clock", "true"));
    DO(esker_db_keyspace(db, "applied", options, &applied));
    esker_keyspace_options_free(options);
    DO(esker_db_default(db, &plain));
    CHECK(marks(esker_mark, applied, NULL) && marks(esker_flushed_mark, applied, NULL));
    CHECK(esker_clock(plain, &now) == ESKER_NOT_FOUND && now == 0);
    DO(esker_batch_new(db, &batch));
    DO(esker_batch_put_until(batch, applied, S("anna"), S("at sea"), 2000000060000u));
    DO(esker_batch_mark_at(batch, applied, S("a"), 2000000000000u));
    DO(esker_batch_commit(batch, 0));
    CHECK(marks(esker_mark, applied, "a") && marks(esker_flushed_mark, applied, NULL));
    DO(esker_clock(applied, &now));
    CHECK(now == 2000000000000u && has(applied, NULL, "anna", "at sea"));
    DO(esker_flush(applied));
    CHECK(marks(esker_flushed_mark, applied, "a"));
    until(&own.flushed, 'a');
    /* Its log lags behind: the flush waits for it, and for nothing else. */
    DO(esker_batch_put(batch, applied, S("bela"), S("in port")));
    DO(esker_batch_mark(batch, applied, S("b")));
    DO(esker_batch_commit(batch, 0));
    DO(esker_flush_soon(applied));
    until(&own.asked, 'b');
    CHECK(marks(esker_mark, applied, "b") && marks(esker_flushed_mark, applied, "a"));
    for (tries = 0; tries < 100000; tries++) {
        DO(esker_keyspace_pressure(applied, &pressure, &reason));
        CHECK(pressure.state == ESKER_WRITES_OPEN && reason == NULL);
        CHECK(pressure.unflushed_bytes > 0 && pressure.bytes_per_s == 0);
        if (pressure.is_parked)
            break;
    }
    CHECK(pressure.is_parked == 1);
    pthread_mutex_lock(&own.guard);
    own.durable = 'b';
    pthread_mutex_unlock(&own.guard);
    DO(esker_own_log_is_durable(applied));
    until(&own.flushed, 'b');
    DO(esker_flush(applied));
    CHECK(marks(esker_flushed_mark, applied, "b"));
    DO(esker_keyspace_pressure(applied, &pressure, NULL));
    CHECK(pressure.is_parked == 0);
    /* What ended by its own time is gone. */
    own.durable = 'c';
    DO(esker_batch_mark_at(batch, applied, S("c"), 2000000060000u));
    DO(esker_batch_commit(batch, 0));
    CHECK(has(applied, NULL, "anna", NULL) && has(applied, NULL, "bela", "in port"));
    CHECK(esker_put(applied, S("x"), S("1"), ESKER_SYNC) == ESKER_INVALID);
    /* Logged keyspaces have no marks. */
    CHECK(esker_batch_mark(batch, plain, S("a")) == ESKER_INVALID);
    nulls(db, applied);
    esker_batch_free(batch);
    esker_keyspace_free(plain);
    esker_keyspace_free(applied);
    DO(esker_db_close(db));
    CHECK(esker_mark(NULL, NULL) == ESKER_INVALID);
    esker_db_free(db);
    CHECK(own.ended == 2);
    esker_builder_free(builder);
    CHECK(own.ended == 3);
    return 0;
}
