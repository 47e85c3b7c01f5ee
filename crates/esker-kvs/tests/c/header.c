/* The header in every dialect, also C++: sizes, places and numbers that programs rely on. */
#include <kvs.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define HOLDS(name, holds) typedef char name[(holds) ? 1 : -1]

HOLDS(offsets_have_64_bits, sizeof(OFFSET_T) == 8);
HOLDS(file_offsets_have_64_bits, sizeof(off_t) == 8 && _FILE_OFFSET_BITS == 64);
HOLDS(numbers_have_32_bits, sizeof(PTR_KW) == 4 && sizeof(HASH) == 4 && sizeof(INIT_TYPE) == 4);
HOLDS(creating_is_0, INIT_TYPE_CREATE == 0 && INIT_TYPE_LOAD == 1);
HOLDS(states_are_numbered, p_unavail == 0 && p_flushed == 1 && p_not_flush == 2);
HOLDS(results_are_numbered, KVS_OK == 0 && KVS_FAILED == -1 && KVS_MISSING == 1 && KVS_SMALL == 2);

int main(void) {
    PTR_BUF buf = NULL;
    KVS_ENV env = {INIT_TYPE_CREATE, NULL, NULL, NULL, 0, 0, 0};
    struct KVS_ENV *same = &env;
    if (sizeof(void *) == 8) {
        if (sizeof(KVS_ENV) != 48 || offsetof(KVS_ENV, init_type) != 0 ||
            offsetof(KVS_ENV, disk_file_path) != 8 || offsetof(KVS_ENV, IMAGE_file_path) != 16 ||
            offsetof(KVS_ENV, log_file_path) != 24 || offsetof(KVS_ENV, buffer_sleep_time) != 32 ||
            offsetof(KVS_ENV, buffer_horizon_size) != 36 || offsetof(KVS_ENV, buffer_size) != 40) {
            printf("the environment lies otherwise\n");
            return 1;
        }
    }
    /* Without paths it cannot be opened; the call shows that the names can be linked. */
    return kv_init(same) == -1 && kv_exit() == -1 && buf == NULL ? 0 : 1;
}
