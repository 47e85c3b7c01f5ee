/*
 * libesker: an ordered key-value store inside a program, from C. MIT or Apache-2.0, at your choice.
 * Link with what `pkg-config --cflags --libs esker` says; docs/guide/c.md is an introduction, and
 * the other pages of the guide say what keyspaces, snapshots, merges and settings are good for.
 *
 *     esker_db *db;
 *     esker_keyspace *ships;
 *     if (esker_open("harbour", &db) != ESKER_OK) return complain(esker_errmsg());
 *     esker_db_default(db, &ships);
 *     esker_put(ships, "anna", 4, "at sea", 6, 0);
 *     esker_keyspace_free(ships);
 *     esker_db_close(db);
 *     esker_db_free(db);
 *
 * Answers. A function that can fail returns ESKER_OK, or the number of why it did nothing;
 * esker_errmsg() has the text of it. ESKER_NOT_FOUND is no failure: there is no such key, or an
 * iterator is at no entry. No call ends the program unless the system has no memory for it: a panic
 * inside, a fault of ours, becomes ESKER_PANIC.
 *
 * NULL. Bytes are a pointer and a size; the pointer may be NULL where the size is 0, and each means
 * the empty key or value. Where a function needs something and gets NULL, it does nothing and
 * returns ESKER_INVALID; where NULL means something, it says so. Functions that end in _free do
 * nothing with NULL.
 *
 * Ownership. What a function makes, it gives through its last pointer, which is NULL if it failed;
 * you give it back to the function of its type that ends in _free. Handles may be freed in any
 * order, each once. They keep the database open between them: it closes with esker_db_close, or
 * when the last of its keyspaces, snapshots, batches, iterators and transactions is freed. Closing
 * is never refused; what is left of handles then answers ESKER_CLOSED, and is still to be freed.
 * What values hold stays. Everything given to a function is copied by it if it needs it later;
 * nothing needs to outlive the call.
 *
 * Threads. Any thread may use esker_db, esker_keyspace, esker_snapshot and esker_interrupter, many
 * at the same time. One thread at a time, and not always the same, may use any other handle.
 * Freeing is the last use, and no other call may be using the handle then. esker_errmsg is each
 * thread's own.
 *
 * Processes. A database that was open when a process forked is the parent's: in the child every
 * call on it and on what belongs to it is ESKER_INVALID, waits for nothing, and freeing handles
 * does nothing to the parent's. One process has a database open for writing at a time.
 *
 * The process around. The library stays once it is loaded: dlclose leaves it where it is. A thread
 * is not to be cancelled (pthread_cancel) inside a call: locks that it holds would be held for
 * good. SIGBUS is what the system sends where a full or broken disk cannot give a page of a mapped
 * file: a handler of the library, set by the first opening for writing, takes those of its own
 * files, and hands all others to the handler that it found. A handler that is set later has to
 * hand on to it what it does not know; if not, such a disk ends the process. No other signal is
 * touched.
 */
#ifndef ESKER_C_H
#define ESKER_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct esker_db esker_db;
typedef struct esker_keyspace esker_keyspace;
typedef struct esker_snapshot esker_snapshot;
typedef struct esker_builder esker_builder;
typedef struct esker_keyspace_options esker_keyspace_options;
typedef struct esker_value esker_value;
typedef struct esker_batch esker_batch;
typedef struct esker_iter esker_iter;
typedef struct esker_tx esker_tx;
typedef struct esker_interrupter esker_interrupter;
typedef struct esker_merge_operator esker_merge_operator;
typedef struct esker_buffer esker_buffer;
typedef struct esker_comparator esker_comparator;
typedef struct esker_retain_rule esker_retain_rule;
typedef struct esker_retain_entry esker_retain_entry;
typedef struct esker_sst_writer esker_sst_writer;

/* Bytes of whoever gives them. */
typedef struct esker_bytes {
    const void *data;
    size_t size;
} esker_bytes;

/* ---- About -------------------------------------------------------------------------------- */

/* The number of this header's interface: a program asks at its start whether esker_abi_version()
   is the same. It goes up when a program that was compiled with this header could not run with
   another library; functions that come along do not change it. */
#define ESKER_ABI_VERSION 1

/* How a call ended. Numbers keep their meaning; there may come more. */
#define ESKER_OK 0
#define ESKER_NOT_FOUND 1         /* No failure: no such key, or no entry there. */
#define ESKER_INVALID 2           /* A wrong argument or setting; it would be wrong again. */
#define ESKER_TOO_LARGE 3         /* Larger than a key, value or batch may be. */
#define ESKER_UNSUPPORTED 4       /* Of a newer version, or an order or operator nobody gave. */
#define ESKER_NOT_BUILT 5         /* This library was built without what that takes. */
#define ESKER_CORRUPTION 6        /* Bytes on the disk are not what was written. */
#define ESKER_IO 7                /* The system refused something. */
#define ESKER_OUT_OF_SPACE 8      /* The disk is full, or the database's share of it. */
#define ESKER_OUT_OF_FILES 9      /* No more files may be opened. */
#define ESKER_LOCKED 10           /* Another process has the database open. */
#define ESKER_BUSY 11             /* Not now; the same call may succeed later. */
#define ESKER_CONFLICT 12         /* Others wrote first; run the transaction again. */
#define ESKER_LOCK_TIMEOUT 13     /* A lock did not become free in time. */
#define ESKER_DEADLOCK 14         /* Waiting would have been waiting for oneself: roll back. */
#define ESKER_FAULTED 15          /* A write or sync failed before: close, and open again. */
#define ESKER_CLOSED 16           /* The database was closed. */
#define ESKER_PANIC 17            /* A fault of the library, or in a callback of yours. */
#define ESKER_OTHER 18            /* Something that this interface has no number for. */
#define ESKER_BUFFER_TOO_SMALL 19 /* No failure: the size that it takes was told. */
#define ESKER_UNCHANGED 20        /* No failure: the condition of a write does not hold. */
#define ESKER_INTERRUPTED 21      /* Somebody ended the wait for a lock. */

/* The library's ESKER_ABI_VERSION. */
uint32_t esker_abi_version(void);

/* The library's version, as "0.1.0". Never NULL. */
const char *esker_version(void);

/* Why the last call of this thread that failed did so, and what to do; "" if none did. It is
   always at the same place, for each thread one, and changes with the next call that fails; what
   is beyond 4 KiB is cut. Never NULL. */
const char *esker_errmsg(void);

/* The word for a code, as "lock timeout"; NULL for a number that is none. */
const char *esker_code_name(int code);

/* 1 if the same call, or the transaction it was part of, may succeed later without anyone changing
   anything; 0 if not, and for numbers that are none. */
int esker_is_retryable(int code);

/* Frees a text that a function gave. NULL does nothing. */
void esker_string_free(char *text);

/* Frees the texts that one function gave, `count` of them. NULL does nothing. */
void esker_strings_free(char **texts, size_t count);

/* ---- Opening ------------------------------------------------------------------------------ */

/* Opens the database in the directory `path` with default settings; creates it if it is not there.
   `path` may be any bytes up to its NUL. Needs both. */
int esker_open(const char *path, esker_db **db);

/* Begins to say how the database in the directory `path` is to be opened. Needs both. */
int esker_builder_new(const char *path, esker_builder **builder);

/* Sets a setting by its name, as "memory_limit" to "512MiB"; docs/settings.md lists them, and
   names of LevelDB and RocksDB such as "write_buffer_size" stand for the nearest. ESKER_INVALID
   for a name that is none or an impossible text; the builder is as before then. Needs all. */
int esker_builder_set(esker_builder *builder, const char *name, const char *text);

/* Whether a directory without a database gets one; yes (not 0) unless told. Needs the builder. */
int esker_builder_create_if_missing(esker_builder *builder, int create);

/* Whether it is an error if there is a database; no (0) unless told. Needs the builder. */
int esker_builder_error_if_exists(esker_builder *builder, int refuse);

/* Whether to open for reading only, as the database is now, also while another process writes to
   it; no (0) unless told. Needs the builder. */
int esker_builder_read_only(esker_builder *builder, int is_read_only);

/* Gives a merge operator that keyspaces may have; not 0: "default" has it. It stays the caller's,
   who may free it at once. Needs both. */
int esker_builder_merge_operator(esker_builder *builder, const esker_merge_operator *rule,
                                 int is_default);

/* Gives an order that keyspaces may have; not 0: "default" has it. It stays the caller's. Needs
   both. */
int esker_builder_comparator(esker_builder *builder, const esker_comparator *comparator,
                             int is_default);

/* Gives the rule of that keyspace, also of one that is created later; it is not written down, and
   is to be given at every opening. It stays the caller's. Needs all. */
int esker_builder_retain_rule(esker_builder *builder, const char *keyspace,
                              const esker_retain_rule *rule);

/* Opens the database. The builder stays as it is, for another opening. Needs both. */
int esker_builder_open(const esker_builder *builder, esker_db **db);

/* Frees a builder, opened or not. NULL does nothing. */
void esker_builder_free(esker_builder *builder);

/* ---- Databases ---------------------------------------------------------------------------- */

/* Closes the database: brings what is in memory into files and gives up the directory, also if
   that fails. Closing again returns the same. The handle is still to be freed. Needs it. */
int esker_db_close(const esker_db *db);

/* Frees the handle; closes the database if this was the last of it, without telling how that
   went: esker_db_close does. NULL does nothing. */
void esker_db_free(esker_db *db);

/* The keyspace "default". Needs both. */
int esker_db_default(const esker_db *db, esker_keyspace **keyspace);

/* The keyspace of that name; created if it is not there, with `options`. Of a keyspace that is
   there its merge operator and comparator must be those, and the rest stays as it is; one without a
   merge operator gets it. NULL options are those of the database. Needs all others. */
int esker_db_keyspace(const esker_db *db, const char *name, const esker_keyspace_options *options,
                      esker_keyspace **keyspace);

/* The keyspace of that name; ESKER_NOT_FOUND, and NULL, if there is none. Needs all. */
int esker_db_existing_keyspace(const esker_db *db, const char *name, esker_keyspace **keyspace);

/* Drops a keyspace with everything in it; handles of it answer with failures then. ESKER_INVALID
   if there is none of that name, and for "default". Needs both. */
int esker_db_drop_keyspace(const esker_db *db, const char *name);

/* The names of all keyspaces, in order; for esker_strings_free. Needs all. */
int esker_db_keyspaces(const esker_db *db, char ***names, size_t *count);

/* Returns when everything written so far, to any keyspace, lies in sorted files. Needs it. */
int esker_db_flush(const esker_db *db);

/* Returns when everything written so far survives a power cut. Needs it. */
int esker_db_sync(const esker_db *db);

/* Changes a setting while the database is open; one of keyspaces for "default" and for those that
   are created later. ESKER_INVALID, and nothing changed, for one that only an opening takes.
   Needs all. */
int esker_db_set(const esker_db *db, const char *name, const char *text);

/* What the database knows about itself, as text for people; for esker_string_free. Needs both. */
int esker_db_stats(const esker_db *db, char **stats);

/* The text of a property such as "esker.levelstats" or "leveldb.stats"; for esker_string_free.
   ESKER_NOT_FOUND, and NULL, for a name that is none. Needs all. */
int esker_db_property(const esker_db *db, const char *name, char **property);

/* Makes a second database in the directory `target`, which is empty or not there, with all that is
   written so far; by hard links where the file system has them. Needs both. */
int esker_db_checkpoint(const esker_db *db, const char *target);

/* Reads every byte of every file; ESKER_CORRUPTION, with what and where as text, if one is not
   what was written. Needs it. */
int esker_db_verify(const esker_db *db);

/* ---- Settings of keyspaces ---------------------------------------------------------------- */

/* Those of a new keyspace, to be changed. Never NULL but after a fault of the library. */
esker_keyspace_options *esker_keyspace_options_new(void);

/* Sets a setting by its name, as "ttl" to "7d", "compression" to "searchable" or "merge_operator"
   to "uint64add". ESKER_INVALID for a name that is none or an impossible text; the options are as
   before then. Needs all. */
int esker_keyspace_options_set(esker_keyspace_options *options, const char *name, const char *text);

/* How operands fold, for good. It stays the caller's, who may free it at once. Needs both. */
int esker_keyspace_options_merge_operator(esker_keyspace_options *options,
                                          const esker_merge_operator *rule);

/* How keys compare, for good. It stays the caller's. Needs both. */
int esker_keyspace_options_comparator(esker_keyspace_options *options,
                                      const esker_comparator *comparator);

/* Which values live on when files are rewritten. It stays the caller's. Needs both. */
int esker_keyspace_options_retain_rule(esker_keyspace_options *options,
                                       const esker_retain_rule *rule);

/* Frees options, used or not. NULL does nothing. */
void esker_keyspace_options_free(esker_keyspace_options *options);

/* ---- Keyspaces ---------------------------------------------------------------------------- */

/* Another handle of the same keyspace. Needs both. */
int esker_keyspace_clone(const esker_keyspace *keyspace, esker_keyspace **clone);

/* Frees the handle; the keyspace stays. NULL does nothing. */
void esker_keyspace_free(esker_keyspace *keyspace);

/* Its name; for esker_string_free. Needs both. */
int esker_keyspace_name(const esker_keyspace *keyspace, char **name);

/* Changes a setting of the keyspace while it is open, and for good. ESKER_INVALID, and nothing
   changed, for one of databases or one that only a creation takes. Needs all. */
int esker_keyspace_set(const esker_keyspace *keyspace, const char *name, const char *text);

/* The settings that it has of its own, names and texts in turn; `count` is of both, for
   esker_strings_free. Needs all. */
int esker_keyspace_settings(const esker_keyspace *keyspace, char ***texts, size_t *count);

/* Has what was written to it so far flushed, and does not wait. Needs it. */
int esker_flush_soon(const esker_keyspace *keyspace);

/* Returns when everything written to it so far lies in sorted files. Needs it. */
int esker_flush(const esker_keyspace *keyspace);

/* Merges everything from `lower` up to `upper`, exclusive, into one run; a bound that is NULL is
   none. Needs the keyspace. */
int esker_compact(const esker_keyspace *keyspace, const void *lower, size_t lower_size,
                  const void *upper, size_t upper_size);

/* What the keys from `lower` up to `upper`, exclusive, take on the disk and in memory, and how
   many they are, without reading them; a bound that is NULL is none, and each of the last three
   may be NULL: not wanted. Needs the keyspace. */
int esker_approximate(const esker_keyspace *keyspace, const void *lower, size_t lower_size,
                      const void *upper, size_t upper_size, uint64_t *disk_bytes,
                      uint64_t *memory_bytes, uint64_t *keys);

/* ---- Snapshots ---------------------------------------------------------------------------- */

/* Every keyspace as it is now, for as long as this is held; `owner` is a name for statistics, NULL
   for none. Needs the others. */
int esker_snapshot_new(const esker_db *db, const char *owner, esker_snapshot **snapshot);

/* Lets go of it. NULL does nothing. */
void esker_snapshot_free(esker_snapshot *snapshot);

/* ---- Values ------------------------------------------------------------------------------- */

/* A value is a place for what a read finds, held where it lies, in the cache or a file's block, and
   not copied. Made once and used for many reads: each lets go of what the one before found. */

/* A place that holds nothing. Never NULL. */
esker_value *esker_value_new(void);

/* What it holds; NULL, and size 0, if nothing. Bytes stay where they are until the next read into
   it, esker_value_clear or esker_value_free, also after the database is closed. An empty value is
   size 0, and not NULL. `size` may be NULL: not wanted. NULL for NULL. */
const void *esker_value_data(const esker_value *value, size_t *size);

/* Lets go of what it holds: as little as one value may keep a block of a file in memory. NULL does
   nothing. */
void esker_value_clear(esker_value *value);

/* Lets go of what it holds, and frees it. NULL does nothing. */
void esker_value_free(esker_value *value);

/* ---- Reading ------------------------------------------------------------------------------ */

/* A keyspace is read as it is now where `snapshot` is NULL. One of another database is
   ESKER_INVALID. `flags` is 0 or what follows. */
#define ESKER_NO_FILL_CACHE 0x1u /* What is read is not kept in the cache: for reading all once. */

/* Finds a key, and has `value` hold what it has; nothing if that is ESKER_NOT_FOUND or fails.
   Needs keyspace and value. */
int esker_get(const esker_keyspace *keyspace, const esker_snapshot *snapshot, const void *key,
              size_t key_size, uint32_t flags, esker_value *value);

/* Finds a key, and copies what it has into `buffer`, which has room for `capacity` bytes. *size is
   what it takes; ESKER_BUFFER_TOO_SMALL, and nothing is copied, if that is more. `buffer` may be
   NULL if `capacity` is 0. Needs keyspace and size. */
int esker_get_into(const esker_keyspace *keyspace, const esker_snapshot *snapshot, const void *key,
                   size_t key_size, uint32_t flags, void *buffer, size_t capacity, size_t *size);

/* ESKER_OK if the key is there, ESKER_NOT_FOUND if not; reads no large value. Needs the
   keyspace. */
int esker_contains(const esker_keyspace *keyspace, const esker_snapshot *snapshot, const void *key,
                   size_t key_size, uint32_t flags);

/* When the key's value ends, in unix milliseconds; 0 is never. `unix_ms` may be NULL: not wanted.
   Needs the keyspace. */
int esker_expiry(const esker_keyspace *keyspace, const esker_snapshot *snapshot, const void *key,
                 size_t key_size, uint32_t flags, uint64_t *unix_ms);

/* Finds `count` keys in one go, all at one moment, and has each of `values` hold what the key at
   the same place has; nothing for those that are not there, and nothing at all if it fails. No
   value may be in it twice. Needs the keyspace, and the arrays unless `count` is 0. */
int esker_multi_get(const esker_keyspace *keyspace, const esker_snapshot *snapshot,
                    const esker_bytes *keys, size_t count, uint32_t flags,
                    esker_value *const *values);

/* ---- Writing ------------------------------------------------------------------------------ */

/* `flags` is what a write is to survive, 0 for what the database was opened with, and what
   follows it. */
#define ESKER_MEMORY 0x1u   /* Nothing, until it is flushed. */
#define ESKER_BUFFERED 0x2u /* A killed process. */
#define ESKER_SYNC 0x3u     /* A power cut. */
#define ESKER_NO_WAIT 0x10u /* ESKER_BUSY instead of waiting. */

/* Puts a value. Needs the keyspace. */
int esker_put(const esker_keyspace *keyspace, const void *key, size_t key_size, const void *value,
              size_t value_size, uint32_t flags);

/* Puts a value that ends after so many milliseconds. Needs the keyspace. */
int esker_put_with_ttl(const esker_keyspace *keyspace, const void *key, size_t key_size,
                       const void *value, size_t value_size, uint64_t ttl_ms, uint32_t flags);

/* Puts a value that ends then, in unix milliseconds; 0 is never, whatever `ttl` the keyspace has.
   Needs the keyspace. */
int esker_put_until(const esker_keyspace *keyspace, const void *key, size_t key_size,
                    const void *value, size_t value_size, uint64_t unix_ms, uint32_t flags);

/* Deletes a key, there or not. Needs the keyspace. */
int esker_delete(const esker_keyspace *keyspace, const void *key, size_t key_size, uint32_t flags);

/* Deletes all keys from `lower` up to `upper`, exclusive, at the price of one put; a bound that is
   NULL is none. Needs the keyspace. */
int esker_delete_range(const esker_keyspace *keyspace, const void *lower, size_t lower_size,
                       const void *upper, size_t upper_size, uint32_t flags);

/* Folds an operand into the key's value, by the keyspace's setting "merge_operator". Needs the
   keyspace. */
int esker_merge(const esker_keyspace *keyspace, const void *key, size_t key_size,
                const void *operand, size_t operand_size, uint32_t flags);

/* ---- Conditional writes ------------------------------------------------------------------- */

/* Nobody else's write comes between the look and the write; flags as of esker_put. */

/* Puts a value if the key has none; else ESKER_UNCHANGED. Needs the keyspace. */
int esker_put_if_absent(const esker_keyspace *keyspace, const void *key, size_t key_size,
                        const void *value, size_t value_size, uint32_t flags);

/* Gives the key another value if it has the expected one; else ESKER_UNCHANGED. `expected` may be
   NULL: no value is expected; `value` may be NULL: the key is deleted. Needs the keyspace. */
int esker_compare_and_swap(const esker_keyspace *keyspace, const void *key, size_t key_size,
                           const void *expected, size_t expected_size, const void *value,
                           size_t value_size, uint32_t flags);

/* Deletes a key if it is there; else ESKER_NOT_FOUND. Needs the keyspace. */
int esker_delete_if_present(const esker_keyspace *keyspace, const void *key, size_t key_size,
                            uint32_t flags);

/* Sets when the key's value ends, in unix milliseconds; 0 is never. ESKER_NOT_FOUND if it has none.
   Needs the keyspace. */
int esker_set_expiry(const esker_keyspace *keyspace, const void *key, size_t key_size,
                     uint64_t unix_ms, uint32_t flags);

/* ---- Batches ------------------------------------------------------------------------------ */

/* Writes that happen together or not at all, in this order, over any keyspaces of one database.
   Each needs batch and keyspace; one that is refused is not in the batch, which is as before. */

/* An empty batch. Needs both. */
int esker_batch_new(const esker_db *db, esker_batch **batch);

/* Puts a value. */
int esker_batch_put(esker_batch *batch, const esker_keyspace *keyspace, const void *key,
                    size_t key_size, const void *value, size_t value_size);

/* Puts a value that ends so many milliseconds from now. */
int esker_batch_put_with_ttl(esker_batch *batch, const esker_keyspace *keyspace, const void *key,
                             size_t key_size, const void *value, size_t value_size,
                             uint64_t ttl_ms);

/* Puts a value that ends then, in unix milliseconds; 0 is never. */
int esker_batch_put_until(esker_batch *batch, const esker_keyspace *keyspace, const void *key,
                          size_t key_size, const void *value, size_t value_size, uint64_t unix_ms);

/* Deletes a key, there or not. */
int esker_batch_delete(esker_batch *batch, const esker_keyspace *keyspace, const void *key,
                       size_t key_size);

/* Deletes all keys from `lower` up to `upper`, exclusive. Needs `upper` too: what has no upper
   bound is not known before the batch is written. `lower` may be NULL: no bound. */
int esker_batch_delete_range(esker_batch *batch, const esker_keyspace *keyspace, const void *lower,
                             size_t lower_size, const void *upper, size_t upper_size);

/* Folds an operand into the key's value. */
int esker_batch_merge(esker_batch *batch, const esker_keyspace *keyspace, const void *key,
                      size_t key_size, const void *operand, size_t operand_size);

/* Sets when the value ends that the key has when the batch is written, in unix milliseconds; 0 is
   never. Nothing happens if it has none. */
int esker_batch_set_expiry(esker_batch *batch, const esker_keyspace *keyspace, const void *key,
                           size_t key_size, uint64_t unix_ms);

/* Says how far a log of yours is applied once the batch is written; see "A log of your own". */
int esker_batch_mark(esker_batch *batch, const esker_keyspace *keyspace, const void *mark,
                     size_t mark_size);

/* And what time it is from then on for a keyspace with a clock of its own, in unix milliseconds. */
int esker_batch_mark_at(esker_batch *batch, const esker_keyspace *keyspace, const void *mark,
                        size_t mark_size, uint64_t unix_ms);

/* How many writes are in it; 0 for NULL. */
size_t esker_batch_count(const esker_batch *batch);

/* How many bytes they take; 0 for NULL. */
size_t esker_batch_size(const esker_batch *batch);

/* Empties it, and keeps its memory for the next writes. NULL does nothing. */
void esker_batch_clear(esker_batch *batch);

/* Writes the batch and empties it; it may be filled again. If it fails, nothing was written (of
   ESKER_FAULTED alone that is not known), and the batch is as it was. Needs it. */
int esker_batch_commit(esker_batch *batch, uint32_t flags);

/* Frees a batch, committed or not. NULL does nothing. */
void esker_batch_free(esker_batch *batch);

/* ---- Iterators ---------------------------------------------------------------------------- */

/* An iterator moves over the entries of a keyspace in the order of their keys, as they were when it
   was made. Each move returns ESKER_OK at an entry, ESKER_NOT_FOUND at none, or why it failed. */

/* An iterator over the keys from `lower` up to `upper`, exclusive, at no entry yet; a bound that is
   NULL is none. Snapshot and flags as for reading. Needs keyspace and iter. */
int esker_iter_new(const esker_keyspace *keyspace, const esker_snapshot *snapshot,
                   const void *lower, size_t lower_size, const void *upper, size_t upper_size,
                   uint32_t flags, esker_iter **iter);

/* To the first entry. Needs it. */
int esker_iter_seek_to_first(esker_iter *iter);

/* To the last entry. Needs it. */
int esker_iter_seek_to_last(esker_iter *iter);

/* To the first entry whose key is not before `key`, which may be what esker_iter_key told. Needs
   the iterator. */
int esker_iter_seek(esker_iter *iter, const void *key, size_t key_size);

/* To the last entry whose key is not after `key`, which may be likewise. Needs the iterator. */
int esker_iter_seek_for_prev(esker_iter *iter, const void *key, size_t key_size);

/* To the next entry; from nowhere it stays there. Needs it. */
int esker_iter_next(esker_iter *iter);

/* To the entry before; from nowhere it stays there. Needs it. */
int esker_iter_prev(esker_iter *iter);

/* To the next entry, and tells its key and value as esker_iter_key and esker_iter_value do: one
   call for each entry of a scan. Where it finds none, or fails, both are NULL and size 0; a value
   that cannot be read leaves it at its entry. Key and value may be NULL: not wanted. Needs it. */
int esker_iter_next_entry(esker_iter *iter, esker_bytes *key, esker_bytes *value);

/* Likewise of the entry before; key and value may be NULL. Needs it. */
int esker_iter_prev_entry(esker_iter *iter, esker_bytes *key, esker_bytes *value);

/* Tells them where it is, as after a seek; ESKER_NOT_FOUND at no entry. Key and value may be NULL:
   not wanted. Needs the iterator. */
int esker_iter_entry(const esker_iter *iter, esker_bytes *key, esker_bytes *value);

/* 1 if it is at an entry, 0 if not, and for NULL. */
int esker_iter_valid(const esker_iter *iter);

/* The key, which stays where it is until the next move; NULL, and size 0, at no entry and for NULL.
   `size` may be NULL: not wanted. */
const void *esker_iter_key(const esker_iter *iter, size_t *size);

/* The value, which stays where it is until the next move; NULL, size 0 and ESKER_NOT_FOUND at no
   entry. A large one is read by this call, and not by the move. Both may be NULL: not wanted. Needs
   the iterator. */
int esker_iter_value(const esker_iter *iter, const void **data, size_t *size);

/* Has `value` hold the value, for as long as is wanted; ESKER_NOT_FOUND, and nothing, at no entry.
   Needs both. */
int esker_iter_value_pinned(const esker_iter *iter, esker_value *value);

/* When the entry ends, in unix milliseconds; 0 is never. `unix_ms` may be NULL: not wanted. Needs
   the iterator. */
int esker_iter_expiry(const esker_iter *iter, uint64_t *unix_ms);

/* Sees from now on what is there now, also if it was made from a snapshot; at no entry then.
   ESKER_INVALID for one of a transaction. Needs it. */
int esker_iter_refresh(esker_iter *iter);

/* Frees an iterator. NULL does nothing. */
void esker_iter_free(esker_iter *iter);

/* ---- Transactions ------------------------------------------------------------------------- */

/* Reads and writes over any keyspaces of one database that happen together or not at all. A
   transaction is one thread's at a time, and may go from one to another at each call, as to one
   that commits in order. What it writes lies in memory until it ends, 2 GiB at most.

     isolation              what it reads                      what makes its commit fail
     ESKER_READ_COMMITTED   each read: what is committed then  a write to what _get_for_update read
     ESKER_SNAPSHOT         all as of its beginning            a write to a key that it writes
     ESKER_SERIALIZABLE     all as of its beginning            a write to what it reads or writes

   All see their own writes. An optimistic one waits for nobody; its commit is ESKER_CONFLICT
   where others were faster. A locking one locks what it writes, and what follows under "Locks".
   Its beginning is its first read or write, once that has its lock. */
#define ESKER_READ_COMMITTED 0
#define ESKER_SNAPSHOT 1
#define ESKER_SERIALIZABLE 2

#define ESKER_OPTIMISTIC 0
#define ESKER_LOCKING 1

/* For lock_timeout_ms: as long as writes outside of transactions wait, one second. 0 is not to
   wait. */
#define ESKER_LOCK_TIMEOUT_DEFAULT UINT64_MAX

/* Begins one. `owner` is a name for statistics and for errors of those who wait; NULL for none.
   Needs the others. */
int esker_tx_begin(const esker_db *db, int isolation, int mode, uint64_t lock_timeout_ms,
                   const char *owner, esker_tx **tx);

/* Reads of a transaction, beside ESKER_NO_FILL_CACHE: all that is committed by now and its own
   writes, whatever its snapshot, as to see under a lock whether a key that has to be unique is
   there. Locks nothing. ESKER_INVALID under ESKER_SERIALIZABLE. */
#define ESKER_LATEST 0x2u

/* Finds a key as esker_get does, own writes included. Needs tx, keyspace and value. */
int esker_tx_get(esker_tx *tx, const esker_keyspace *keyspace, const void *key, size_t key_size,
                 uint32_t flags, esker_value *value);

/* Finds many as esker_multi_get does, own writes included. Needs tx, keyspace, and the arrays
   unless `count` is 0. */
int esker_tx_multi_get(esker_tx *tx, const esker_keyspace *keyspace, const esker_bytes *keys,
                       size_t count, uint32_t flags, esker_value *const *values);

/* An iterator as esker_iter_new makes it, with the transaction's own writes up to now; it cannot be
   refreshed. A bound that is NULL is none. Needs tx, keyspace and iter. */
int esker_tx_iter_new(esker_tx *tx, const esker_keyspace *keyspace, const void *lower,
                      size_t lower_size, const void *upper, size_t upper_size, uint32_t flags,
                      esker_iter **iter);

/* Under ESKER_READ_COMMITTED: from here on plain reads see this moment, until the next call. Called
   before each statement, all that one statement reads is of one moment. What is locked to be read
   is read as it is by then all the same. A transaction of the others takes its snapshot, for good;
   ESKER_INVALID if it has it. Needs it. */
int esker_tx_set_snapshot(esker_tx *tx);

/* Each plain read sees what is committed by then, as before esker_tx_set_snapshot; what is kept for
   that moment may go. Nothing where a snapshot is for good. Needs it. */
int esker_tx_clear_snapshot(esker_tx *tx);

/* Puts a value. Needs tx and keyspace. */
int esker_tx_put(esker_tx *tx, const esker_keyspace *keyspace, const void *key, size_t key_size,
                 const void *value, size_t value_size);

/* Puts a value that ends so many milliseconds from now. Needs tx and keyspace. */
int esker_tx_put_with_ttl(esker_tx *tx, const esker_keyspace *keyspace, const void *key,
                          size_t key_size, const void *value, size_t value_size, uint64_t ttl_ms);

/* Puts a value that ends then, in unix milliseconds; 0 is never. Needs tx and keyspace. */
int esker_tx_put_until(esker_tx *tx, const esker_keyspace *keyspace, const void *key,
                       size_t key_size, const void *value, size_t value_size, uint64_t unix_ms);

/* Deletes a key, there or not. Needs tx and keyspace. */
int esker_tx_delete(esker_tx *tx, const esker_keyspace *keyspace, const void *key, size_t key_size);

/* Deletes all keys from `lower` up to `upper`, exclusive; a locking transaction locks the keyspace
   as a whole for it. `lower` may be NULL: the empty key. Needs tx, keyspace and upper. */
int esker_tx_delete_range(esker_tx *tx, const esker_keyspace *keyspace, const void *lower,
                          size_t lower_size, const void *upper, size_t upper_size);

/* Folds an operand into the key's value. Needs tx and keyspace. */
int esker_tx_merge(esker_tx *tx, const esker_keyspace *keyspace, const void *key, size_t key_size,
                   const void *operand, size_t operand_size);

/* Sets when the key's value ends, in unix milliseconds; 0 is never. ESKER_NOT_FOUND if it has none.
   Needs tx and keyspace. */
int esker_tx_set_expiry(esker_tx *tx, const esker_keyspace *keyspace, const void *key,
                        size_t key_size, uint64_t unix_ms);

/* Sets a savepoint on top of those there are, and gives its number, which no other one of this
   transaction ever has. Needs both. */
int esker_tx_savepoint(esker_tx *tx, uint64_t *number);

/* Takes back what was written, and the locks that were taken, since that savepoint; it stays, and
   those on top of it go. ESKER_INVALID if there is none. Needs the transaction. */
int esker_tx_rollback_to(esker_tx *tx, uint64_t number);

/* Takes away that savepoint and those on top of it, and leaves what was written. ESKER_INVALID if
   there is none. Needs the transaction. */
int esker_tx_release(esker_tx *tx, uint64_t number);

/* How many writes there are and their bytes, by the limit above; each may be NULL: not wanted.
   Needs the transaction. */
int esker_tx_size(const esker_tx *tx, uint64_t *writes, uint64_t *size_bytes);

/* Writes all of it, with flags as of esker_put, also after esker_tx_prepare. ESKER_CONFLICT: others
   were faster, and nothing is written; run it again. Whatever the answer, the transaction is over,
   but one that was prepared stays so after a failure, and is ended by its id. Needs it. */
int esker_tx_commit(esker_tx *tx, uint32_t flags);

/* Forgets all of it; the flags count after esker_tx_prepare alone. Needs it. */
int esker_tx_rollback(esker_tx *tx, uint32_t flags);

/* Frees a transaction. One that was not ended is rolled back; one that was prepared stays so; one
   that was committed in order is committed. NULL does nothing. */
void esker_tx_free(esker_tx *tx);

/* ---- Locks -------------------------------------------------------------------------------- */

/* A locking transaction has its locks until it ends, or goes back to a savepoint before them. What
   it does not get within its lock timeout is ESKER_LOCK_TIMEOUT; where it would wait for itself,
   ESKER_DEADLOCK; where others have written to the key since its snapshot, so that it could not
   commit, ESKER_CONFLICT, at once. Nothing of that call was done then, but what
   esker_tx_multi_get_for_update says; the transaction has what it had, and may go on or be rolled
   back, after a conflict to be run again. ESKER_READ_COMMITTED has no snapshot for good, and reads
   what it locks as it is by then. */
#define ESKER_SHARED 0    /* Together with others who do so: nobody writes. */
#define ESKER_EXCLUSIVE 1 /* For itself alone. */

/* Finds a key that is to be written next: a locking transaction locks it for itself alone, there or
   not; the commit of an optimistic one fails if others write to it meanwhile. Needs tx, keyspace
   and value. */
int esker_tx_get_for_update(esker_tx *tx, const esker_keyspace *keyspace, const void *key,
                            size_t key_size, esker_value *value);

/* Finds a key that is to stay as it is: as esker_tx_get_for_update, but shared. Two that share a
   key and both write to it are a deadlock. Needs tx, keyspace and value. */
int esker_tx_get_for_share(esker_tx *tx, const esker_keyspace *keyspace, const void *key,
                           size_t key_size, esker_value *value);

/* Finds many as esker_tx_get_for_update does each, and locks them in their bytewise order, so that
   two that want the same do not wait for each other. Refused, it keeps the locks that it came to
   before, and no value holds anything. Needs tx, keyspace, and the arrays unless `count` is 0. */
int esker_tx_multi_get_for_update(esker_tx *tx, const esker_keyspace *keyspace,
                                  const esker_bytes *keys, size_t count,
                                  esker_value *const *values);

/* Locks a key as the reads above do, ESKER_SHARED or ESKER_EXCLUSIVE, and reads nothing: also a
   name that transactions agree on. Needs tx and keyspace. */
int esker_tx_lock(esker_tx *tx, const esker_keyspace *keyspace, const void *key, size_t key_size,
                  int how);

/* Locks a keyspace as a whole: ESKER_SHARED keeps writers out of it; ESKER_EXCLUSIVE is one lock
   for a bulk of writes. ESKER_INVALID of an optimistic transaction. Needs tx and keyspace. */
int esker_tx_lock_keyspace(esker_tx *tx, const esker_keyspace *keyspace, int how);

/* Where the transaction stands among the locks that it takes: goes up with each. Needs both. */
int esker_tx_lock_place(esker_tx *tx, uint64_t *place);

/* Gives back the locks of keys that were taken since that place, of reads that turned out not to
   matter, as rows that do not match; others may write to those keys then. Keys that were locked
   before stay so. Does nothing if the transaction has written since. Under ESKER_SNAPSHOT the commit
   depends on what was read of them all the same. ESKER_INVALID of a serializable one. Needs it. */
int esker_tx_unlock_since(esker_tx *tx, uint64_t place);

/* Waits so long for each lock from now on, as of esker_tx_begin. Needs it. */
int esker_tx_set_lock_timeout(esker_tx *tx, uint64_t lock_timeout_ms);

/* A handle by which another thread ends the transaction's waits. It may outlive the transaction and
   the database, keeps neither, and does nothing when one of them is gone. Needs both. */
int esker_tx_interrupter(esker_tx *tx, esker_interrupter **interrupter);

/* From now on the transaction waits for no lock: the call that does, or would, is
   ESKER_INTERRUPTED, until esker_tx_clear_interrupt. What it gets without waiting it gets. From
   any thread, but not from a signal handler. Needs it. */
int esker_interrupt(const esker_interrupter *interrupter);

/* Frees it; the transaction stays. NULL does nothing. */
void esker_interrupter_free(esker_interrupter *interrupter);

/* The transaction waits again from now on. Needs it. */
int esker_tx_clear_interrupt(esker_tx *tx);

/* ---- Two phases --------------------------------------------------------------------------- */

/* Ends the first of two phases: makes the writes durable under an id of 1 to 256 bytes that no
   other prepared transaction has. From here on its commit depends on nothing, and it outlives a
   crash: esker_db_prepared lists it. After a failure it is over, and nothing is written. Needs
   both. */
int esker_tx_prepare(esker_tx *tx, const void *id, size_t id_size);

/* Commits a prepared transaction in the order of these calls, without waiting for a sync, for a
   server that has a log of its own. It is seen from here on; esker_tx_finish ends it. Needs it. */
int esker_tx_commit_ordered(esker_tx *tx);

/* Returns when what esker_tx_commit_ordered committed is as durable as the flags say; those who
   finish at the same time share a sync. Needs it. */
int esker_tx_finish(esker_tx *tx, uint32_t flags);

/* ---- Prepared transactions ---------------------------------------------------------------- */

/* Told of one prepared transaction; anything but 0 ends the telling. */
typedef int (*esker_prepared_visitor)(void *state, const void *id, size_t id_size, uint64_t writes,
                                      uint64_t age_ms);

/* Calls `visit` for each transaction that is prepared: after a crash, those that a server has to
   decide. It may use the database. `state` is handed to it, NULL or not. Needs the others. */
int esker_db_prepared(const esker_db *db, esker_prepared_visitor visit, void *state);

/* Commits the one with that id, flags as of esker_put. ESKER_INVALID if none has it. Needs db and
   id. */
int esker_db_commit_prepared(const esker_db *db, const void *id, size_t id_size, uint32_t flags);

/* Rolls the one with that id back. ESKER_INVALID if none has it. Needs db and id. */
int esker_db_rollback_prepared(const esker_db *db, const void *id, size_t id_size, uint32_t flags);

/* Told that all is on the medium, or with a code, why that is not known. */
typedef void (*esker_durable_call)(void *state, int code);

/* Has `call` called once, on a thread of the library or before this returns, when everything that
   is committed so far is on the medium. It must not close the database. If this function fails it
   is not called. `state` is handed to it, NULL or not. Needs the others. */
int esker_db_notify_when_durable(const esker_db *db, esker_durable_call call, void *state);

/* ---- Callbacks ---------------------------------------------------------------------------- */

/* What follows is made of functions of yours. They get `state`, NULL or not, as their first
   argument. Any thread calls them, several at a time, in the middle of reads, writes and
   compactions, so
     - they must not use any database: every call is refused there as ESKER_INVALID, but that an
       iterator moves and tells values among what it has at hand;
     - they must not wait for a thread that uses the database;
     - they must return: no longjmp and no exception may pass through the library;
     - what they get is good until they return.
   `destroy`, unless NULL, is called once with `state` when nothing calls them any more: after
   the object was freed and every database that has it was closed and freed; at once if making
   the object fails. */
typedef void (*esker_destroy)(void *state);

/* ---- Merge operators ---------------------------------------------------------------------- */

/* Folds `count` operands, oldest first, into `base`, which is NULL where there is no value, and
   puts the new value into `made`. Returns 0; anything else is a refusal: reads of the key fail
   then, and the operands stay as they are. The same must come out however operands were grouped. */
typedef int (*esker_fold)(void *state, esker_bytes key, const esker_bytes *base,
                          const esker_bytes *operands, size_t count, esker_buffer *made);

/* Puts one operand into `made` that does what `older` and then `newer` do, and returns 0; anything
   else leaves the two as they are. */
typedef int (*esker_combine)(void *state, esker_bytes key, esker_bytes older, esker_bytes newer,
                             esker_buffer *made);

/* One that comes with the library: "uint64add", "uint64max", "uint64min", "bytesxor", "put", or
   "append" and "append:DELIMITER". Needs both. */
int esker_merge_operator_named(const char *name, esker_merge_operator **rule);

/* One of your own. Its name stands in the database, and it is to be given at every opening.
   `combine` may be NULL: nothing is combined; `destroy` may be NULL: nothing is to end. Needs name,
   fold and rule. */
int esker_merge_operator_new(const char *name, esker_fold fold, esker_combine combine, void *state,
                             esker_destroy destroy, esker_merge_operator **rule);

/* Frees it; databases and options that have it keep it. NULL does nothing. */
void esker_merge_operator_free(esker_merge_operator *rule);

/* Adds to what a callback makes. Needs the buffer. */
int esker_buffer_append(esker_buffer *buffer, const void *data, size_t size);

/* ---- Comparators -------------------------------------------------------------------------- */

/* Less than, equal to or greater than 0, as memcmp: a total order that never changes, in which only
   keys of the same bytes are equal. Neither key is NULL. */
typedef int (*esker_compare)(void *state, const void *left, size_t left_size, const void *right,
                             size_t right_size);

/* An order of keys. Its name stands in the database, and it is to be given at every opening.
   `destroy` may be NULL: nothing is to end. Needs name, compare and comparator. */
int esker_comparator_new(const char *name, esker_compare compare, void *state,
                         esker_destroy destroy, esker_comparator **comparator);

/* Frees it; databases and options that have it keep it. NULL does nothing. */
void esker_comparator_free(esker_comparator *comparator);

/* ---- Retain rules ------------------------------------------------------------------------- */

/* What others call a compaction filter: it is asked about a value never, once, or often, sees no
   merge operands, and nothing that a snapshot needs which was there before the compaction. It
   returns 1 if the value lives on, 0 if it goes as if deleted; anything else is a refusal, and that
   compaction fails; later ones go without the rule until esker_compact. */
typedef int (*esker_retain_call)(void *state, const esker_retain_entry *entry);

/* A rule. Its name is for errors and statistics. `destroy` may be NULL: nothing is to end. Needs
   name, retain and rule. */
int esker_retain_rule_new(const char *name, esker_retain_call retain, void *state,
                          esker_destroy destroy, esker_retain_rule **rule);

/* Frees it; databases and options that have it keep it. NULL does nothing. */
void esker_retain_rule_free(esker_retain_rule *rule);

/* The key of the entry that a rule is asked about; NULL, and size 0, for NULL. `size` may be NULL:
   not wanted. */
const void *esker_retain_entry_key(const esker_retain_entry *entry, size_t *size);

/* Its value, which is read only if this is called. Both may be NULL: not wanted. Needs the entry.
   */
int esker_retain_entry_value(const esker_retain_entry *entry, const void **data, size_t *size);

/* When it ends (0 is never), and what time it is for its keyspace, in unix milliseconds; each may
   be NULL: not wanted. A rule that drops what is over asks this, and no clock. Needs the entry. */
int esker_retain_entry_times(const esker_retain_entry *entry, uint64_t *expiry_unix_ms,
                             uint64_t *now_unix_ms);

/* ---- Files -------------------------------------------------------------------------------- */

/* A file set is a directory of sorted files with a list of them: esker_export and esker_sst_writer
   make one, esker_ingest takes it in. docs/guide/bulk.md tells more. */
typedef struct esker_file_set_summary {
    uint64_t files;
    uint64_t size_bytes;
    uint64_t entries;
    uint64_t range_deletes;
} esker_file_set_summary;

/* How sets are taken in: 0 or what follows. */
#define ESKER_BELOW 0x1u     /* Only keys that have no value come in. */
#define ESKER_COPY 0x2u      /* Files are copied, and not linked. */
#define ESKER_MOVE 0x4u      /* The files of the set are removed once they are in. */
#define ESKER_UNCHECKED 0x8u /* Blocks are not held against their checksums first. */

/* Makes a file set, in the new directory `dir`, of `count` keyspaces as they are at one moment.
   `summary` may be NULL: not wanted. Needs the others, and each keyspace. */
int esker_export(const esker_db *db, const esker_keyspace *const *keyspaces, size_t count,
                 const char *dir, esker_file_set_summary *summary);

/* Takes `count` sets in, each into the keyspace at the same place, all at one moment or none.
   `summary` may be NULL: not wanted. Needs the others, and each of them. */
int esker_ingest(const esker_db *db, const esker_keyspace *const *keyspaces,
                 const char *const *dirs, size_t count, uint32_t flags,
                 esker_file_set_summary *summary);

/* Takes in all keyspaces of a set, each under the name it has there, and makes those that are
   missing. Their names are for esker_strings_free; both names and count may be NULL, and summary:
   not wanted. Needs db and dir. */
int esker_ingest_by_name(const esker_db *db, const char *dir, uint32_t flags,
                         esker_file_set_summary *summary, char ***names, size_t *count);

/* Begins a set in `dir`, which is made, or empty, outside of any database. Of the options it takes
   the order, the merge operator and how files are written; NULL is those of a new keyspace. Needs
   dir and writer. */
int esker_sst_writer_new(const char *dir, const esker_keyspace_options *options,
                         esker_sst_writer **writer);

/* Puts a value that ends then, in unix milliseconds; 0 is never. Keys ascend, each once, whatever
   is done to them: else ESKER_INVALID, and nothing is changed. Needs the writer. */
int esker_sst_writer_put(esker_sst_writer *writer, const void *key, size_t key_size,
                         const void *value, size_t value_size, uint64_t unix_ms);

/* Deletes a key. Needs the writer. */
int esker_sst_writer_delete(esker_sst_writer *writer, const void *key, size_t key_size);

/* Folds an operand into the key's value. Needs the writer. */
int esker_sst_writer_merge(esker_sst_writer *writer, const void *key, size_t key_size,
                           const void *operand, size_t operand_size);

/* At any time: hides what the keyspace has from `lower` up to `upper`, exclusive, and nothing that
   this writer puts. `lower` may be NULL: the empty key. Needs writer and upper. */
int esker_sst_writer_delete_range(esker_sst_writer *writer, const void *lower, size_t lower_size,
                                  const void *upper, size_t upper_size);

/* Makes the set durable and lists it. The writer is of no more use, whatever the answer. `summary`
   may be NULL: not wanted. Needs the writer. */
int esker_sst_writer_finish(esker_sst_writer *writer, esker_file_set_summary *summary);

/* Frees a writer; what was not finished is taken away. NULL does nothing. */
void esker_sst_writer_free(esker_sst_writer *writer);

/* ---- A log of your own -------------------------------------------------------------------- */

/* A keyspace that is created with "unlogged" set to "true" is in no log of the library: after a
   crash it is what was flushed of it, and its mark says up to where your own log is in it.
   docs/guide/own-log.md tells more. */

/* Whether your log is durable up to that mark of that keyspace: 0 is not yet, and nothing behind
   the last yes is flushed. */
typedef int (*esker_log_is_durable)(void *state, const char *keyspace, const void *mark,
                                    size_t mark_size);

/* All up to that mark is on the medium: your log is not needed any more up to there. */
typedef void (*esker_log_flushed)(void *state, const char *keyspace, const void *mark,
                                  size_t mark_size);

/* Has your log asked before what was applied of it is flushed, and told behind that; on a thread
   of the library. Both may use the database, but not close it or wait for a flush, and must return
   as other callbacks. `flushed` may be NULL: not told; `destroy`, unless NULL, is called as theirs.
   Needs builder and is_durable. */
int esker_builder_own_log(esker_builder *builder, esker_log_is_durable is_durable,
                          esker_log_flushed flushed, void *state, esker_destroy destroy);

/* Has `value` hold the mark of the last batch that had one; ESKER_NOT_FOUND, and nothing, before
   the first. Needs both. */
int esker_mark(const esker_keyspace *keyspace, esker_value *value);

/* Likewise the mark up to which all lies in sorted files: what a crash now would leave. Needs
   both. */
int esker_flushed_mark(const esker_keyspace *keyspace, esker_value *value);

/* What time it is for a keyspace that was created with "own_clock", in unix milliseconds;
   ESKER_NOT_FOUND for others. `unix_ms` may be NULL: not wanted. Needs the keyspace. */
int esker_clock(const esker_keyspace *keyspace, uint64_t *unix_ms);

/* Your log was made durable further: flushes that wait for it are asked for again. Needs it. */
int esker_own_log_is_durable(const esker_keyspace *keyspace);

/* ---- Watching ----------------------------------------------------------------------------- */

/* Told of one thing that the database counts, by the name that pages of metrics have, and what it
   means; anything but 0 ends the telling. */
typedef int (*esker_counter_visitor)(void *state, const char *name, const char *meaning,
                                     uint64_t count);

/* Calls `visit` for everything that the database counts. `state` is handed to it, NULL or not.
   Needs the others. */
int esker_db_counters(const esker_db *db, esker_counter_visitor visit, void *state);

/* All numbers of the database in the text format of Prometheus, version 0.0.4; for
   esker_string_free. Needs both. */
int esker_db_metrics(const esker_db *db, char **page);

/* Told of one number of that page: its name, and its labels as text, "" for none, as
   keyspace="default",level="0"; anything but 0 ends the telling. */
typedef int (*esker_number_visitor)(void *state, const char *name, const char *labels,
                                    double number);

/* Calls `visit` for every number of esker_db_metrics. It may use the database. `state` is handed to
   it, NULL or not. Needs the others. */
int esker_db_numbers(const esker_db *db, esker_number_visitor visit, void *state);

/* What is known of one transaction under way. There may come more behind the last. */
typedef struct esker_tx_stats {
    uint64_t number;             /* Its place among all since the opening. */
    uint64_t age_ms;             /* Since it was begun. */
    uint64_t locks;              /* Held by it, of keys and of keyspaces. */
    int isolation;               /* ESKER_SNAPSHOT and its like. */
    int mode;                    /* ESKER_OPTIMISTIC or ESKER_LOCKING. */
    const char *owner;           /* As of esker_tx_begin; NULL for none. */
    int is_waiting;              /* 1 if it waits for a lock; the rest is of that, 0 or NULL. */
    uint64_t waited_ms;          /* Since then. */
    const char *wanted_keyspace; /* NULL if it was dropped. */
    esker_bytes wanted_key;      /* NULL for the keyspace as a whole. */
    const uint64_t *holders;     /* Numbers of those it waits for, the first few. */
    size_t holder_count;
} esker_tx_stats;

/* Told of one transaction, which is good until it returns; anything but 0 ends the telling. */
typedef int (*esker_tx_visitor)(void *state, const esker_tx_stats *told);

/* Calls `visit` for each transaction under way. It may use the database. `state` is handed to it,
   NULL or not. Needs the others. */
int esker_db_transactions(const esker_db *db, esker_tx_visitor visit, void *state);

/* A lock that a transaction holds. There may come more behind the last. */
typedef struct esker_lock_stats {
    const char *keyspace; /* NULL if it was dropped. */
    esker_bytes key;      /* NULL for the keyspace as a whole. */
    const char *mode;     /* "S" or "X"; of a keyspace also "IS", "IX" or "SIX". */
    uint64_t held_ms;     /* Since it was taken, in whatever mode. */
} esker_lock_stats;

/* Told of one lock, which is good until it returns; anything but 0 ends the telling. */
typedef int (*esker_lock_visitor)(void *state, const esker_lock_stats *told);

/* Calls `visit` for each lock of the transaction with that number, in the order in which it took
   them: the first 1024, or less where keys are longer than 64 bytes; esker_tx_stats has how many
   there are. None if it has ended. Also from within esker_db_transactions. `state` is handed to
   `visit`, NULL or not. Needs the others. */
int esker_db_locks(const esker_db *db, uint64_t transaction, esker_lock_visitor visit,
                   void *state);

/* Calls `visit` for each key that the transaction prepared under that id keeps from others, "X" if
   it writes to it, "S" if it read it to write elsewhere: the first 1024, in order. ESKER_INVALID if
   none has it. `state` is handed to `visit`, NULL or not. Needs the others. */
int esker_db_prepared_locks(const esker_db *db, const void *id, size_t id_size,
                            esker_lock_visitor visit, void *state);

/* Whether a write would wait. */
#define ESKER_WRITES_OPEN 0
#define ESKER_WRITES_SLOWED 1  /* For the keyspace's rate: compactions are behind. */
#define ESKER_WRITES_STOPPED 2 /* Until there is memory; or it is refused. */

/* What a write to a keyspace would meet. */
typedef struct esker_write_pressure {
    int state;                /* ESKER_WRITES_OPEN and its like. */
    int is_parked;            /* 1 if a flush waits for a log of yours. */
    uint64_t bytes_per_s;     /* While writes are slowed down; else 0. */
    uint64_t debt_bytes;      /* That compactions have yet to move. */
    uint64_t unflushed_bytes; /* In memory, and in no file. */
} esker_write_pressure;

/* Tells it without waiting for anybody: cheap enough to be asked before each write. `reason`, for
   esker_string_free, is NULL while writes are open. Both may be NULL: not wanted. Needs the
   keyspace. */
int esker_keyspace_pressure(const esker_keyspace *keyspace, esker_write_pressure *pressure,
                            char **reason);

/* Told of one event, as a name, then names and values: flush_end job=1 keyspace="default" and so
   on. The line is good until it returns. */
typedef void (*esker_hear)(void *state, const char *line);

/* Has `hear` told of flushes, compactions, stalls, errors and files, one after the other, on a
   thread of the library, from the opening to the close, which waits for it. It may use the
   database, but not close it, and must return as other callbacks. `destroy`, unless NULL, is called
   as theirs. Needs builder and hear. */
int esker_builder_event_listener(esker_builder *builder, esker_hear hear, void *state,
                                 esker_destroy destroy);

/* ---- Repairing ---------------------------------------------------------------------------- */

/* Repairs the database in the directory `path`, which nobody has open; if `dry_run` is not 0, says
   only what it would do. `is_lossy` is 1 if anything that once was written may be gone; `report`,
   for esker_string_free, is for people. Both may be NULL: not wanted. Needs the path. */
int esker_repair(const char *path, int dry_run, int *is_lossy, char **report);

/* Opens a damaged database for reading what a repair would keep, and leaves it as it is. What a
   repair would write goes to `scratch`, an empty directory that is there, and is yours to remove
   after the close. is_lossy and report as of esker_repair. Needs builder, scratch and db. */
int esker_builder_open_past_damage(const esker_builder *builder, const char *scratch, int *is_lossy,
                                   char **report, esker_db **db);

/* As esker_db_checkpoint, of a database that another process may have open and write to. Needs
   both. */
int esker_checkpoint_beside(const char *path, const char *target);

#ifdef __cplusplus
}
#endif

#endif /* ESKER_C_H */
