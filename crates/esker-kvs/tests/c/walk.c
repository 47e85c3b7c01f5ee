/*
 * The walk over the interface: 26 entries whose keys and values grow by a letter each; 13 put, got,
 * three of them deleted, the other 13 put and got. Everything succeeds but to get what was deleted.
 */
#include "check.h"

#define COUNT 26
#define CAPACITY 1025

static char keys[COUNT][64], values[COUNT][64];

static int get_fails, value_fails;

static void get(int number) {
    char buf[CAPACITY];
    int size = CAPACITY;
    if (kv_get(keys[number], (int)strlen(keys[number]), buf, &size) != 0) {
        printf("kv_get %d fail\n", number);
        get_fails++;
        CHECK(size == CAPACITY);
        return;
    }
    printf("get: key_size:%d\t\tkey:%s\t\tvalue_size:%d\t\tvalue:%s\n", (int)strlen(keys[number]),
           keys[number], size, buf);
    value_fails += size != (int)strlen(values[number]) || strcmp(buf, values[number]) != 0;
}

static void put(int number) {
    CHECK(kv_put(keys[number], (int)strlen(keys[number]), values[number],
                 (int)strlen(values[number])) == 0);
}

static int has_line(const char *path, const char *start) {
    char line[512];
    int found = 0;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        found |= strncmp(line, start, strlen(start)) == 0;
    }
    fclose(file);
    return found;
}

int main(void) {
    KVS_ENV env = make_env(INIT_TYPE_CREATE);
    int number;
    for (number = 0; number < COUNT; number++) {
        strcpy(keys[number], "key-");
        strcpy(values[number], "value-");
        memset(keys[number] + 4, 'a' + number, (size_t)number);
        memset(values[number] + 6, 'a' + number, (size_t)number);
    }
    CHECK(kv_init(&env) == 0);
    for (number = 0; number < 13; number++) put(number);
    for (number = 0; number < 13; number++) get(number);
    CHECK(get_fails == 0);
    for (number = 0; number < 5; number += 2) {
        CHECK(kv_delete(keys[number], (int)strlen(keys[number])) == 0);
    }
    for (number = 0; number < 5; number += 2) get(number);
    CHECK(get_fails == 3);
    for (number = 13; number < COUNT; number++) put(number);
    for (number = 13; number < COUNT; number++) get(number);
    CHECK(get_fails == 3 && value_fails == 0);
    CHECK(kv_exit() == 0);
    CHECK(has_line("log_file", "KVS INIT SUCCESS.\t\t"));
    CHECK(has_line("log_file", "idx_search---key not found.\t\t"));
    CHECK(has_line("log_file", "KVS EXIT.\t\t"));
    CHECK(has_line("disk_file", "") && has_line("IMAGE_file", ""));
    return 0;
}
