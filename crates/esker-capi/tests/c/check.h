/* What the test programs share: a check that says where it failed, and short words. */
#ifndef CHECK_H
#define CHECK_H

#include <esker/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                                              \
    do {                                                                                          \
        if (!(holds)) {                                                                           \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #holds,               \
                    esker_errmsg());                                                              \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* Checks that a call did what it was asked. */
#define DO(call) CHECK((call) == ESKER_OK)

/* Checks that a call was refused for that reason, and that its text has those words. */
#define REFUSED(call, code, words)                                                                \
    do {                                                                                          \
        CHECK((call) == (code));                                                                  \
        CHECK(strstr(esker_errmsg(), (words)) != NULL);                                           \
    } while (0)

/* A string as bytes: pointer and size. */
#define S(text) (text), strlen(text)

/* Whether those bytes are that string. */
static inline int is(const void *data, size_t size, const char *text) {
    return data != NULL && size == strlen(text) && memcmp(data, text, size) == 0;
}

/* Whether a value holds that string; nothing where that is NULL. */
static inline int holds(const esker_value *value, const char *text) {
    size_t size = 99;
    const void *data = esker_value_data(value, &size);
    return text == NULL ? data == NULL && size == 0 : is(data, size, text);
}

/* Whether a key has that value, now or then; none where that is NULL. */
static inline int has(const esker_keyspace *keyspace, const esker_snapshot *snapshot,
                      const char *key, const char *text) {
    esker_value *value = esker_value_new();
    int code = esker_get(keyspace, snapshot, S(key), 0, value);
    int so = code == (text == NULL ? ESKER_NOT_FOUND : ESKER_OK) && holds(value, text);
    esker_value_free(value);
    return so;
}

/* Whether an iterator is at that entry. */
static inline int at(const esker_iter *iter, const char *key, const char *text) {
    size_t key_size, size;
    const void *data;
    const void *found = esker_iter_key(iter, &key_size);
    return esker_iter_valid(iter) == 1 && is(found, key_size, key) &&
           esker_iter_value(iter, &data, &size) == ESKER_OK && is(data, size, text);
}

#endif
