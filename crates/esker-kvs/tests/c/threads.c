/*
 * Eight threads at once: each puts, gets and deletes keys of its own, and all of them fight over
 * keys that they share, of which each must be put by exactly one.
 */
#include "check.h"
#include <pthread.h>

#define THREADS 8
#define ROUNDS 150
#define SHARED 200
#define VALUE 20000

static char won[THREADS][SHARED];

static void *work(void *place) {
    int me = *(int *)place, round, size;
    char name[32], value[VALUE], buf[VALUE];
    for (round = 0; round < SHARED; round++) {
        sprintf(name, "shared-%d", round);
        value[0] = (char)me;
        won[me][round] = kv_put(name, (int)strlen(name), value, 1) == 0;
    }
    for (round = 0; round < ROUNDS; round++) {
        int length = sprintf(name, "%d-%d", me, round);
        memset(value, me * ROUNDS + round, VALUE);
        CHECK(kv_put(name, length, value, VALUE) == 0);
        size = VALUE;
        CHECK(kv_get(name, length, buf, &size) == 0);
        CHECK(size == VALUE && memcmp(buf, value, VALUE) == 0);
        if (round % 3 == 0) {
            CHECK(kv_delete(name, length) == 0);
            CHECK(kv_get(name, length, buf, &size) == -1);
        }
    }
    return NULL;
}

int main(void) {
    KVS_ENV env = make_env(INIT_TYPE_CREATE);
    pthread_t threads[THREADS];
    int numbers[THREADS], number, round;
    CHECK(kv_init(&env) == 0);
    for (number = 0; number < THREADS; number++) {
        numbers[number] = number;
        CHECK(pthread_create(&threads[number], NULL, work, &numbers[number]) == 0);
    }
    for (number = 0; number < THREADS; number++) CHECK(pthread_join(threads[number], NULL) == 0);
    for (round = 0; round < SHARED; round++) {
        char name[32], buf[1];
        int winners = 0, size = 1, length = sprintf(name, "shared-%d", round);
        CHECK(kv_get(name, length, buf, &size) == 0);
        for (number = 0; number < THREADS; number++) winners += won[number][round];
        CHECK(winners == 1 && won[(int)buf[0]][round]);
    }
    CHECK(kv_exit() == 0);
    return 0;
}
