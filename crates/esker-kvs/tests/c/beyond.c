/* What the original did not have: handles, overwriting, walks in order, results that tell apart. */
#include "check.h"

static void must_have(kvs_store *store, const char *key, const char *value) {
    char buf[64];
    int size = sizeof buf;
    CHECK(kvs_get(store, key, (int)strlen(key), buf, &size) == KVS_OK);
    CHECK(size == (int)strlen(value) && strcmp(buf, value) == 0);
}

static void put(kvs_store *store, const char *key, const char *value) {
    CHECK(kvs_put(store, key, (int)strlen(key), value, (int)strlen(value)) == KVS_OK);
}

/* Walks from a key on, and holds what comes against the keys that are told, a letter each. */
static void walk(kvs_store *store, const char *from, const char *expected) {
    const char *key, *value;
    int key_size, value_size;
    kvs_scan *scan = kvs_scan_open(store, from, (int)strlen(from));
    CHECK(scan != NULL);
    for (; *expected != 0; expected++) {
        CHECK(kvs_scan_next(scan, &key, &key_size, &value, &value_size) == KVS_OK);
        CHECK(key_size == 1 && *key == *expected);
        CHECK(value_size >= 1 && value[0] == *expected);
    }
    CHECK(kvs_scan_next(scan, &key, &key_size, NULL, NULL) == KVS_MISSING);
    CHECK(kvs_scan_next(scan, NULL, NULL, NULL, NULL) == KVS_MISSING);
    kvs_scan_close(scan);
}

static void on(kvs_store *store) {
    char buf[2];
    int size = sizeof buf;
    const char *key;
    int key_size;
    kvs_scan *scan;
    put(store, "c", "c1");
    put(store, "a", "a1");
    put(store, "b", "b1");
    put(store, "b", "b2 and more");
    must_have(store, "b", "b2 and more");
    walk(store, "", "abc");
    walk(store, "b", "bc");
    walk(store, "bb", "c");
    walk(store, "d", "");
    CHECK(kvs_get(store, "b", 1, buf, &size) == KVS_SMALL && size == 11);
    size = sizeof buf;
    CHECK(kvs_get(store, "x", 1, buf, &size) == KVS_MISSING && size == sizeof buf);
    CHECK(kvs_get(store, "b", 1, buf, NULL) == KVS_FAILED);
    CHECK(kvs_delete(store, "x", 1) == KVS_MISSING);
    CHECK(kvs_put(store, "x", 1, "v", -1) == KVS_FAILED);
    CHECK(strstr(kvs_errmsg(), "value_size") != NULL);
    /* A walk sees the store as it was when the walk began. */
    scan = kvs_scan_open(store, NULL, 0);
    CHECK(scan != NULL);
    CHECK(kvs_delete(store, "a", 1) == KVS_OK);
    CHECK(kvs_scan_next(scan, &key, &key_size, NULL, NULL) == KVS_OK);
    CHECK(key_size == 1 && *key == 'a');
    kvs_scan_close(scan);
    kvs_scan_close(NULL);
    CHECK(kvs_sync(store) == KVS_OK);
}

int main(void) {
    KVS_ENV env = make_env(INIT_TYPE_CREATE), other = make_env(INIT_TYPE_CREATE);
    kvs_store *store;
    kvs_scan *late;
    CHECK(kvs_put(NULL, "k", 1, "v", 1) == KVS_FAILED);
    CHECK(kvs_scan_open(NULL, NULL, 0) == NULL);
    other.disk_file_path = (char *)"other_file";
    other.IMAGE_file_path = (char *)"OTHER_IMAGE";
    other.log_file_path = (char *)"other_log";
    CHECK(kv_init(&env) == 0);
    CHECK(kvs_open(&env) == NULL);
    CHECK(strstr(kvs_errmsg(), "locked") != NULL);
    store = kvs_open(&other);
    CHECK(store != NULL);
    on(NULL);
    on(store);
    /* Two stores, not one. */
    put(store, "b", "theirs");
    must_have(NULL, "b", "b2 and more");
    CHECK(kv_put("b", 1, "v", 1) == -1);
    CHECK(kvs_close(store) == KVS_OK);
    CHECK(kvs_close(NULL) == KVS_OK);
    other.init_type = INIT_TYPE_LOAD;
    store = kvs_open(&other);
    CHECK(store != NULL);
    must_have(store, "b", "theirs");
    CHECK(kvs_close(store) == KVS_OK);
    /* A walk that is still open when the store is closed ends with an error, not with a crash. */
    late = kvs_scan_open(NULL, NULL, 0);
    CHECK(late != NULL);
    CHECK(kv_exit() == 0);
    CHECK(kvs_scan_next(late, NULL, NULL, NULL, NULL) == KVS_FAILED);
    kvs_scan_close(late);
    return 0;
}
