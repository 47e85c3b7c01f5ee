/* Puts, gets and scans through the C interface; prints nanoseconds for each of them.

   border DIRECTORY [WORK TIMES]   so often the work of that name, once without */
#include <esker/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The same in benches/border.rs. */
#define KEYS 500000u
#define STEP 333667u
#define VALUE_SIZE 100

static esker_keyspace *keyspace;
static esker_value *held;
static unsigned long long sum;

static void do_(int code) {
    if (code != ESKER_OK) {
        fprintf(stderr, "%s\n", esker_errmsg());
        exit(1);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Sixteen digits. */
static void key_of(unsigned number, char key[16]) {
    int place;
    for (place = 15; place >= 0; place--, number /= 10)
        key[place] = '0' + number % 10;
}

static void put(void) {
    char key[16], value[VALUE_SIZE];
    unsigned place, number;
    memset(value, 'v', VALUE_SIZE);
    for (place = 0, number = 0; place < KEYS; place++, number = (number + STEP) % KEYS) {
        key_of(number, key);
        do_(esker_put(keyspace, key, 16, value, VALUE_SIZE, 0));
    }
}

static void get(void) {
    char key[16];
    unsigned place, number;
    size_t size;
    for (place = 0, number = 0; place < KEYS; place++, number = (number + STEP) % KEYS) {
        key_of(number, key);
        do_(esker_get(keyspace, NULL, key, 16, 0, held));
        sum += ((const char *)esker_value_data(held, &size))[0] + size;
    }
}

static void get_into(void) {
    char key[16], buffer[VALUE_SIZE];
    unsigned place, number;
    size_t size;
    for (place = 0, number = 0; place < KEYS; place++, number = (number + STEP) % KEYS) {
        key_of(number, key);
        do_(esker_get_into(keyspace, NULL, key, 16, 0, buffer, sizeof buffer, &size));
        sum += buffer[0] + size;
    }
}

static void add(const void *key, size_t key_size, const void *value, size_t size) {
    sum += ((const char *)key)[0] + ((const char *)value)[0] + key_size + size;
}

/* Three calls for each entry. */
static void scan(void) {
    esker_iter *iter;
    int code;
    do_(esker_iter_new(keyspace, NULL, NULL, 0, NULL, 0, 0, &iter));
    for (code = esker_iter_seek_to_first(iter); code == ESKER_OK; code = esker_iter_next(iter)) {
        size_t key_size, size;
        const void *key = esker_iter_key(iter, &key_size), *value;
        do_(esker_iter_value(iter, &value, &size));
        add(key, key_size, value, size);
    }
    esker_iter_free(iter);
}

/* One call for each. */
static void scan_entries(void) {
    esker_iter *iter;
    esker_bytes key, value;
    int code;
    do_(esker_iter_new(keyspace, NULL, NULL, 0, NULL, 0, 0, &iter));
    do_(esker_iter_seek_to_first(iter));
    code = esker_iter_entry(iter, &key, &value);
    for (; code == ESKER_OK; code = esker_iter_next_entry(iter, &key, &value))
        add(key.data, key.size, value.data, value.size);
    esker_iter_free(iter);
}

static const struct {
    const char *name;
    void (*work)(void);
} works[] = {{"put", put},
             {"get", get},
             {"get_into", get_into},
             {"scan", scan},
             {"scan_entries", scan_entries}};

int main(int count, char **arguments) {
    const int all = sizeof works / sizeof *works;
    esker_builder *builder;
    esker_db *db;
    int one, round;
    if (count < 2)
        return 2;
    held = esker_value_new();
    do_(esker_builder_new(arguments[1], &builder));
    do_(esker_builder_set(builder, "memory_limit", "1GiB"));
    do_(esker_builder_open(builder, &db));
    esker_builder_free(builder);
    do_(esker_db_default(db, &keyspace));
    for (one = 0; one < all; one++) {
        int times = one == 0 ? 1 : 2;
        double start = 0;
        if (count == 4 && one > 0)
            times = strcmp(arguments[2], works[one].name) == 0 ? atoi(arguments[3]) : 0;
        /* The second time all is in the cache. */
        for (round = 0; round < times; round++) {
            start = now();
            works[one].work();
        }
        printf("%s %.2f\n", works[one].name, (now() - start) / KEYS);
        if (one == 0)
            do_(esker_compact(keyspace, NULL, 0, NULL, 0));
    }
    fprintf(stderr, "%llu\n", sum);
    esker_value_free(held);
    esker_keyspace_free(keyspace);
    do_(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
