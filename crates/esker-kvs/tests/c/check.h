/* What the test programs share: a check that says where it failed, and an environment. */
#ifndef CHECK_H
#define CHECK_H

#include <kvs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                                               \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #holds, kvs_errmsg()); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The environment that the description's own tests use, with a horizon of ten bytes. */
static KVS_ENV make_env(enum init_enum init_type) {
    KVS_ENV env;
    env.init_type = init_type;
    env.disk_file_path = (char *)"disk_file";
    env.IMAGE_file_path = (char *)"IMAGE_file";
    env.log_file_path = (char *)"log_file";
    env.buffer_sleep_time = 1;
    env.buffer_horizon_size = 10;
    env.buffer_size = 100 * 1024 * 1024;
    return env;
}

#endif
