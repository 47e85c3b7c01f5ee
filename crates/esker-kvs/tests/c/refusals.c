/* Every way to be refused: -1, nothing changed, and a reason. */
#include "check.h"

static char large[KVS_VALUE_SIZE_MAX + 1], key[KVS_KEY_SIZE_MAX + 1];

/* Opens with one field changed, which must fail and say why. */
#define REFUSED(change, word)                       \
    do {                                            \
        KVS_ENV env = make_env(INIT_TYPE_CREATE);   \
        change;                                     \
        CHECK(kv_init(&env) == -1);                 \
        CHECK(strstr(kvs_errmsg(), word) != NULL);  \
        CHECK(kv_put("k", 1, "v", 1) == -1);        \
    } while (0)

static void environments(void) {
    CHECK(kv_init(NULL) == -1);
    REFUSED(env.init_type = INIT_TYPE_LOAD, "there is no image");
    REFUSED(env.buffer_size = 52428800, "buffer_size");
    REFUSED(env.buffer_size = -1, "buffer_size");
    REFUSED(env.buffer_horizon_size = env.buffer_size, "buffer_horizon_size");
    REFUSED(env.disk_file_path = NULL, "disk_file_path");
    REFUSED(env.disk_file_path = (char *)"", "disk_file_path");
    REFUSED(env.IMAGE_file_path = NULL, "IMAGE_file_path");
    REFUSED(env.disk_file_path = (char *)"nowhere/disk_file", "no directory");
    REFUSED(env.log_file_path = (char *)"nowhere/log_file", "log");
    REFUSED(env.init_type = (enum init_enum)7, "init_type");
    CHECK(kv_exit() == -1);
}

static void puts_and_gets(void) {
    char buf[8];
    int size = sizeof buf;
    CHECK(kv_put("k", 1, "value", 5) == 0);
    CHECK(kv_put("k", 1, "other", 5) == -1);
    CHECK(strstr(kvs_errmsg(), "there already") != NULL);
    CHECK(kv_put("j", 1, "v", -1) == -1);
    CHECK(kv_put("j", -1, "v", 1) == -1);
    CHECK(kv_put(NULL, 1, "v", 1) == -1);
    CHECK(kv_put("j", 1, NULL, 1) == -1);
    CHECK(kv_put("j", 1, large, KVS_VALUE_SIZE_MAX + 1) == -1);
    CHECK(kv_put(key, KVS_KEY_SIZE_MAX + 1, "v", 1) == -1);
    CHECK(kv_get("j", 1, buf, &size) == -1 && size == sizeof buf);
    CHECK(kv_delete("j", 1) == -1);
    CHECK(kv_delete("j", -1) == -1);
    CHECK(kv_delete(NULL, 1) == -1);
    /* Room for less than the value, for the value, and for the NUL behind it. */
    memset(buf, 'x', sizeof buf);
    size = 4;
    CHECK(kv_get("k", 1, buf, &size) == -1 && size == 4 && buf[0] == 'x');
    size = 5;
    CHECK(kv_get("k", 1, buf, &size) == 0 && size == 5 && memcmp(buf, "valuexxx", 8) == 0);
    size = 6;
    CHECK(kv_get("k", 1, buf, &size) == 0 && size == 5 && memcmp(buf, "value\0xx", 8) == 0);
    size = -1;
    CHECK(kv_get("k", 1, buf, &size) == -1 && size == -1);
    size = 8;
    CHECK(kv_get("k", 1, NULL, &size) == -1 && size == 8);
    CHECK(kv_get("k", 1, buf, NULL) == -1);
    CHECK(kv_get("k", -1, buf, &size) == -1);
    /* Deleted, it can be put again. */
    CHECK(kv_delete("k", 1) == 0);
    CHECK(kv_delete("k", 1) == -1);
    CHECK(kv_put("k", 1, "again", 5) == 0);
}

static void edges(void) {
    static char back[KVS_VALUE_SIZE_MAX + 1];
    int size = 0, number;
    /* A key of nothing, a value of nothing, a NUL inside, and the largest of both. */
    CHECK(kv_put("", 0, "", 0) == 0);
    CHECK(kv_get(NULL, 0, NULL, &size) == 0 && size == 0);
    CHECK(kv_put("a\0b", 3, "1\0", 2) == 0);
    CHECK(kv_put("a", 1, "2", 1) == 0);
    size = 3;
    CHECK(kv_get("a\0b", 3, back, &size) == 0 && size == 2 && memcmp(back, "1\0", 3) == 0);
    for (number = 0; number < KVS_VALUE_SIZE_MAX; number++) large[number] = (char)(number % 251);
    CHECK(kv_put(key, KVS_KEY_SIZE_MAX, large, KVS_VALUE_SIZE_MAX) == 0);
    size = KVS_VALUE_SIZE_MAX;
    CHECK(kv_get(key, KVS_KEY_SIZE_MAX, back, &size) == 0);
    CHECK(size == KVS_VALUE_SIZE_MAX && memcmp(back, large, (size_t)size) == 0);
    CHECK(kv_delete("", 0) == 0);
}

int main(void) {
    KVS_ENV env = make_env(INIT_TYPE_CREATE);
    char buf[1];
    int size = 1;
    CHECK(strcmp(kvs_errmsg(), "") == 0);
    CHECK(kv_put("k", 1, "v", 1) == -1);
    CHECK(kv_get("k", 1, buf, &size) == -1);
    CHECK(kv_delete("k", 1) == -1);
    CHECK(strstr(kvs_errmsg(), "kv_init") != NULL);
    environments();
    CHECK(kv_init(&env) == 0);
    CHECK(kv_init(&env) == -1);
    CHECK(strstr(kvs_errmsg(), "kv_exit") != NULL);
    puts_and_gets();
    edges();
    CHECK(kv_exit() == 0);
    CHECK(kv_exit() == -1);
    return 0;
}
