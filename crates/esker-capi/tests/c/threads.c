/* Eight threads on one handle, each with iterators, batches and texts of its own. */
#include "check.h"
#include <pthread.h>

#define THREADS 8
#define ROUNDS 300

static esker_db *db;
static esker_keyspace *ships;

static void *work(void *given) {
    int own = (int)(size_t)given, round;
    char key[32], words[32];
    esker_batch *batch;
    esker_snapshot *now;
    esker_iter *iter;
    esker_value *value = esker_value_new();
    DO(esker_batch_new(db, &batch));
    for (round = 0; round < ROUNDS; round++) {
        snprintf(key, sizeof key, "%d:%d", own, round);
        DO(esker_put(ships, S(key), S(key), 0));
        DO(esker_batch_put(batch, ships, S("shared"), S(key)));
        DO(esker_batch_commit(batch, 0));
        DO(esker_get(ships, NULL, S(key), 0, value));
        CHECK(holds(value, key));
        DO(esker_get(ships, NULL, S("shared"), 0, value));
        CHECK(esker_value_data(value, NULL) != NULL);
        /* Each thread's text is its own. */
        snprintf(words, sizeof words, "flags 0x%x", 0x1000 + own);
        REFUSED(esker_put(ships, S(key), S(key), 0x1000 + own), ESKER_INVALID, words);
    }
    DO(esker_snapshot_new(db, "thread", &now));
    DO(esker_iter_new(ships, now, NULL, 0, NULL, 0, 0, &iter));
    snprintf(key, sizeof key, "%d:", own);
    DO(esker_iter_seek(iter, S(key)));
    for (round = 1; round < ROUNDS; round++)
        DO(esker_iter_next(iter));
    esker_iter_free(iter);
    esker_snapshot_free(now);
    esker_batch_free(batch);
    esker_value_free(value);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int own;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    for (own = 0; own < THREADS; own++)
        CHECK(pthread_create(&threads[own], NULL, work, (void *)(size_t)own) == 0);
    for (own = 0; own < THREADS; own++)
        CHECK(pthread_join(threads[own], NULL) == 0);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
