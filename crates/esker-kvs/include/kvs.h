/*
 * libkvs: a key-value store inside a program. The interface of key-value-system 0.1 (FoOTOo Lab,
 * 2012), on the Esker engine; MIT or Apache-2.0, at your choice. Link with `-lkvs`, or as
 * `pkg-config --cflags --libs kvs` says.
 *
 *     KVS_ENV env = {INIT_TYPE_CREATE, "disk_file", "IMAGE_file", "log_file", 1, 1 << 20, 64 << 20};
 *     char buf[1024];
 *     int size = sizeof buf;
 *     if (kv_init(&env) != 0) return 1;
 *     kv_put("key", 3, "value", 5);
 *     if (kv_get("key", 3, buf, &size) == 0) fwrite(buf, 1, size, stdout);
 *     kv_exit();
 *
 * Keys and values are any bytes, keys up to KVS_KEY_SIZE_MAX and values up to KVS_VALUE_SIZE_MAX of
 * them, 0 included. Any thread may call anything at any time; closing must be the last call on what
 * is closed. A pointer may be NULL where the size beside it is 0. No process may use a store that
 * another has open, nor one that it inherited through fork().
 *
 * What a call that returned 0 put or deleted is there after the process is killed. After kvs_sync,
 * kv_exit or kvs_close it is there after a power cut.
 */
#ifndef KVS_INTERFACE
#define KVS_INTERFACE

#include "type.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KVS_KEY_SIZE_MAX 65535
#define KVS_VALUE_SIZE_MAX 5242880

typedef struct KVS_ENV {
    enum init_enum init_type;
    /* The store lies in a directory of this name with ".d" behind. What lies at this path itself
       is left as it is; where there is nothing, a line of text says where the store is. */
    char *disk_file_path;
    /* Says that the store is whole; without it a store is not loaded. */
    char *IMAGE_file_path;
    /* What happened and what was refused, for people; emptied by every start. NULL is stdout. */
    char *log_file_path;
    /* Seconds after which values are brought to the medium, however few they are; 0 is 1. */
    int buffer_sleep_time;
    /* Bytes of values that are not on the medium yet, from which on they are brought there in the
       background. Smaller than buffer_size. */
    int buffer_horizon_size;
    /* Bytes of memory for values; keys and index may take as many again. Larger than 52428800. */
    int buffer_size;
} KVS_ENV;

/*
 * The five functions of the original. They return 0, or -1: then nothing was changed, and the log
 * and kvs_errmsg say why. They act on one store for the whole process.
 */

/* Opens the store. Copies what it needs of env. -1 if a store is open already. */
int kv_init(const KVS_ENV *env);

/* Waits for the calls of other threads, brings everything to the medium and closes the store. */
int kv_exit(void);

/* Puts a key that is not there. -1 if it is: delete it first, or use kvs_put. */
int kv_put(const char *key, int key_size, const char *value, int value_size);

/* Gets the value of a key into buf, which has room for *buf_size bytes, and sets *buf_size to the
   value's size; a NUL byte follows the value if there is room for it. -1 if the key is not there,
   or the room is too small; then buf and *buf_size are as they were. */
int kv_get(const char *key, int key_size, char *buf, int *buf_size);

/* Deletes a key that is there. -1 if it is not. */
int kv_delete(const char *key, int key_size);

/*
 * What the original did not have. Every store has a handle here; where one is asked for, NULL is
 * the store that kv_init opened.
 */
typedef struct kvs_store kvs_store;
typedef struct kvs_scan kvs_scan;

enum kvs_result {
    KVS_OK = 0,
    KVS_FAILED = -1, /* kvs_errmsg says why */
    KVS_MISSING = 1, /* the key is not there, or the scan is over */
    KVS_SMALL = 2    /* buf is too small, and *buf_size says what it takes */
};

/* Opens a store beside others. NULL if that fails. */
kvs_store *kvs_open(const KVS_ENV *env);

/* Brings everything to the medium, closes the store and frees the handle, also if it fails. */
int kvs_close(kvs_store *store);

/* Puts a key, whether it is there or not. */
int kvs_put(kvs_store *store, const char *key, int key_size, const char *value, int value_size);

/* As kv_get, with results that tell apart why. */
int kvs_get(kvs_store *store, const char *key, int key_size, char *buf, int *buf_size);

/* As kv_delete, with results that tell apart why. */
int kvs_delete(kvs_store *store, const char *key, int key_size);

/* Returns when everything put and deleted so far survives a power cut. */
int kvs_sync(kvs_store *store);

/* Begins a walk over the keys from `from` on, in the order of their bytes (from 0 bytes on, over
   all), as the store is now: what comes later is not seen. NULL if that fails. One thread at a time
   may use a scan. */
kvs_scan *kvs_scan_open(kvs_store *store, const char *from, int from_size);

/* Steps to the next key. The bytes stay where they are until the next step. Any of the pointers may
   be NULL: what is not wanted. KVS_MISSING behind the last key. */
int kvs_scan_next(kvs_scan *scan, const char **key, int *key_size, const char **value,
                  int *value_size);

/* Ends a walk. NULL does nothing. */
void kvs_scan_close(kvs_scan *scan);

/* Why the last call of this thread that failed did so; "" if none did. The text stays until the
   next one fails. */
const char *kvs_errmsg(void);

#ifdef __cplusplus
}
#endif

#endif /* KVS_INTERFACE */
