/* Where no database is to be used: in callbacks, and in a child of the process that opened it. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static esker_db *db;
static esker_keyspace *ships;
static esker_snapshot *snapshot;
static esker_batch *batch;
static esker_iter *iter;
static esker_tx *tx;
static esker_interrupter *interrupter;
static esker_value *value;

static int visit(void *state, const void *id, size_t id_size, uint64_t writes, uint64_t age_ms) {
    (void)state, (void)id, (void)id_size, (void)writes, (void)age_ms;
    CHECK(0);
    return 0;
}

static int count(void *state, const char *name, const char *meaning, uint64_t counted) {
    (void)state, (void)name, (void)meaning, (void)counted;
    CHECK(0);
    return 0;
}

static int number(void *state, const char *name, const char *labels, double told) {
    (void)state, (void)name, (void)labels, (void)told;
    CHECK(0);
    return 0;
}

static int transaction(void *state, const esker_tx_stats *told) {
    (void)state, (void)told;
    CHECK(0);
    return 0;
}

static int held(void *state, const esker_lock_stats *told) {
    (void)state, (void)told;
    CHECK(0);
    return 0;
}

static void is_durable(void *state, int code) {
    (void)state, (void)code;
    CHECK(0);
}

/* What everything is refused with here. */
static const char *words;

#define NO(call) REFUSED(call, ESKER_INVALID, words)

static void of_databases(void) {
    esker_keyspace *keyspace;
    esker_snapshot *taken;
    esker_batch *begun;
    esker_tx *other;
    char **texts, *text;
    size_t how_many;
    NO(esker_db_default(db, &keyspace));
    NO(esker_db_keyspace(db, "x", NULL, &keyspace));
    NO(esker_db_existing_keyspace(db, "default", &keyspace));
    NO(esker_db_drop_keyspace(db, "x"));
    NO(esker_db_keyspaces(db, &texts, &how_many));
    NO(esker_db_flush(db));
    NO(esker_db_sync(db));
    NO(esker_db_set(db, "memory_limit", "64MiB"));
    NO(esker_db_stats(db, &text));
    NO(esker_db_property(db, "esker.stats", &text));
    NO(esker_db_checkpoint(db, "copy"));
    NO(esker_db_verify(db));
    NO(esker_db_prepared(db, visit, NULL));
    NO(esker_db_commit_prepared(db, S("id"), 0));
    NO(esker_db_rollback_prepared(db, S("id"), 0));
    NO(esker_db_notify_when_durable(db, is_durable, NULL));
    NO(esker_db_counters(db, count, NULL));
    NO(esker_db_numbers(db, number, NULL));
    NO(esker_db_metrics(db, &text));
    NO(esker_db_transactions(db, transaction, NULL));
    NO(esker_db_locks(db, 0, held, NULL));
    NO(esker_db_prepared_locks(db, S("id"), held, NULL));
    NO(esker_snapshot_new(db, "mine", &taken));
    NO(esker_batch_new(db, &begun));
    NO(esker_tx_begin(db, ESKER_SNAPSHOT, ESKER_LOCKING, 0, NULL, &other));
    NO(esker_db_close(db));
    CHECK(keyspace == NULL && taken == NULL && begun == NULL && other == NULL);
    CHECK(texts == NULL && how_many == 0 && text == NULL);
}

static void of_keyspaces(void) {
    esker_keyspace *clone;
    esker_iter *made;
    esker_bytes key = {"a", 1};
    esker_write_pressure pressure = {9, 9, 9, 9, 9};
    char **texts, *text, buffer[8];
    size_t size = 9;
    uint64_t bytes = 9, memory = 9, keys = 9, end = 9;
    NO(esker_keyspace_clone(ships, &clone));
    NO(esker_keyspace_name(ships, &text));
    NO(esker_keyspace_set(ships, "ttl", "1d"));
    NO(esker_keyspace_settings(ships, &texts, &size));
    NO(esker_flush(ships));
    NO(esker_flush_soon(ships));
    NO(esker_keyspace_pressure(ships, &pressure, &text));
    NO(esker_mark(ships, value));
    NO(esker_flushed_mark(ships, value));
    NO(esker_clock(ships, &end));
    NO(esker_own_log_is_durable(ships));
    CHECK(pressure.state == 0 && pressure.debt_bytes == 0 && text == NULL);
    NO(esker_compact(ships, NULL, 0, NULL, 0));
    NO(esker_approximate(ships, NULL, 0, NULL, 0, &bytes, &memory, &keys));
    CHECK(bytes == 0 && memory == 0 && keys == 0);
    NO(esker_get(ships, NULL, S("a"), 0, value));
    NO(esker_get(ships, snapshot, S("a"), ESKER_NO_FILL_CACHE, value));
    NO(esker_get_into(ships, NULL, S("a"), 0, buffer, sizeof buffer, &size));
    NO(esker_contains(ships, snapshot, S("a"), 0));
    NO(esker_expiry(ships, NULL, S("a"), 0, &end));
    NO(esker_multi_get(ships, NULL, &key, 1, 0, &value));
    NO(esker_iter_new(ships, NULL, NULL, 0, NULL, 0, 0, &made));
    CHECK(holds(value, NULL) && size == 0 && end == 0 && clone == NULL && made == NULL);
    NO(esker_put(ships, S("a"), S("1"), 0));
    NO(esker_put_with_ttl(ships, S("a"), S("1"), 1000, 0));
    NO(esker_put_until(ships, S("a"), S("1"), 4000000000000u, 0));
    NO(esker_delete(ships, S("a"), 0));
    NO(esker_delete_range(ships, S("a"), S("b"), 0));
    NO(esker_merge(ships, S("a"), S("1"), 0));
    NO(esker_put_if_absent(ships, S("a"), S("1"), 0));
    NO(esker_compare_and_swap(ships, S("a"), NULL, 0, S("1"), 0));
    NO(esker_delete_if_present(ships, S("a"), 0));
    NO(esker_set_expiry(ships, S("a"), 0, 0));
}

static void of_files(void) {
    const esker_keyspace *all[1];
    const char *dirs[1] = {"set"};
    esker_file_set_summary summary = {9, 9, 9, 9};
    char **names;
    size_t how_many;
    all[0] = ships;
    NO(esker_export(db, all, 1, "set", &summary));
    CHECK(summary.files == 0 && summary.size_bytes == 0);
    summary.entries = 9;
    NO(esker_ingest(db, all, dirs, 1, 0, &summary));
    CHECK(summary.entries == 0);
    summary.entries = 9;
    NO(esker_ingest_by_name(db, "set", 0, &summary, &names, &how_many));
    CHECK(summary.entries == 0 && names == NULL && how_many == 0);
}

static void of_batches_and_iterators(void) {
    uint64_t end = 9;
    NO(esker_batch_put(batch, ships, S("a"), S("1")));
    NO(esker_batch_put_with_ttl(batch, ships, S("a"), S("1"), 1000));
    NO(esker_batch_put_until(batch, ships, S("a"), S("1"), 4000000000000u));
    NO(esker_batch_delete(batch, ships, S("a")));
    NO(esker_batch_delete_range(batch, ships, S("a"), S("b")));
    NO(esker_batch_merge(batch, ships, S("a"), S("1")));
    NO(esker_batch_set_expiry(batch, ships, S("a"), 0));
    NO(esker_batch_mark(batch, ships, S("a")));
    NO(esker_batch_mark_at(batch, ships, S("a"), 1));
    NO(esker_batch_commit(batch, 0));
    CHECK(esker_batch_count(batch) == 1);
    NO(esker_iter_seek_to_first(iter));
    NO(esker_iter_seek_to_last(iter));
    NO(esker_iter_seek(iter, S("a")));
    NO(esker_iter_seek_for_prev(iter, S("a")));
    NO(esker_iter_value_pinned(iter, value));
    NO(esker_iter_expiry(iter, &end));
    NO(esker_iter_refresh(iter));
    CHECK(holds(value, NULL) && end == 0);
}

static void of_transactions(void) {
    esker_bytes key = {"a", 1};
    esker_interrupter *other;
    esker_iter *made;
    uint64_t number = 9, writes = 9, size = 9, place = 9;
    NO(esker_tx_get(tx, ships, S("a"), 0, value));
    NO(esker_tx_multi_get(tx, ships, &key, 1, 0, &value));
    NO(esker_tx_get_for_update(tx, ships, S("a"), value));
    NO(esker_tx_get_for_share(tx, ships, S("a"), value));
    NO(esker_tx_multi_get_for_update(tx, ships, &key, 1, &value));
    NO(esker_tx_iter_new(tx, ships, NULL, 0, NULL, 0, 0, &made));
    CHECK(holds(value, NULL) && made == NULL);
    NO(esker_tx_set_snapshot(tx));
    NO(esker_tx_clear_snapshot(tx));
    NO(esker_tx_lock(tx, ships, S("a"), ESKER_SHARED));
    NO(esker_tx_lock_keyspace(tx, ships, ESKER_SHARED));
    NO(esker_tx_lock_place(tx, &place));
    NO(esker_tx_unlock_since(tx, 0));
    NO(esker_tx_set_lock_timeout(tx, 0));
    NO(esker_tx_interrupter(tx, &other));
    NO(esker_interrupt(interrupter));
    NO(esker_tx_clear_interrupt(tx));
    NO(esker_tx_put(tx, ships, S("a"), S("1")));
    NO(esker_tx_put_with_ttl(tx, ships, S("a"), S("1"), 1000));
    NO(esker_tx_put_until(tx, ships, S("a"), S("1"), 4000000000000u));
    NO(esker_tx_delete(tx, ships, S("a")));
    NO(esker_tx_delete_range(tx, ships, S("a"), S("b")));
    NO(esker_tx_merge(tx, ships, S("a"), S("1")));
    NO(esker_tx_set_expiry(tx, ships, S("a"), 0));
    NO(esker_tx_savepoint(tx, &number));
    NO(esker_tx_rollback_to(tx, 1));
    NO(esker_tx_release(tx, 1));
    NO(esker_tx_size(tx, &writes, &size));
    CHECK(other == NULL && number == 0 && writes == 0 && size == 0);
    NO(esker_tx_commit(tx, 0));
    NO(esker_tx_rollback(tx, 0));
    NO(esker_tx_prepare(tx, S("id")));
    NO(esker_tx_commit_ordered(tx));
    NO(esker_tx_finish(tx, 0));
}

static void all(void) {
    of_databases();
    of_keyspaces();
    of_files();
    of_batches_and_iterators();
    of_transactions();
}

static int calls;

static int fold(void *state, esker_bytes key, const esker_bytes *base, const esker_bytes *operands,
                size_t how_many, esker_buffer *made) {
    (void)state, (void)key, (void)base;
    words = "called the database";
    all();
    calls++;
    return esker_buffer_append(made, operands[how_many - 1].data, operands[how_many - 1].size);
}

static void in_a_child(void) {
    int status = -1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        words = "forked";
        all();
        NO(esker_iter_next(iter));
        NO(esker_iter_prev(iter));
        NO(esker_iter_value(iter, NULL, NULL));
        NO(esker_iter_next_entry(iter, NULL, NULL));
        NO(esker_iter_prev_entry(iter, NULL, NULL));
        NO(esker_iter_entry(iter, NULL, NULL));
        /* Freed, they do nothing to the parent's. */
        esker_interrupter_free(interrupter);
        esker_tx_free(tx);
        esker_iter_free(iter);
        esker_batch_free(batch);
        esker_snapshot_free(snapshot);
        esker_keyspace_free(ships);
        esker_db_free(db);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    esker_builder *builder;
    esker_merge_operator *rule;
    value = esker_value_new();
    DO(esker_merge_operator_new("calls", fold, NULL, NULL, NULL, &rule));
    DO(esker_builder_new("harbour", &builder));
    DO(esker_builder_merge_operator(builder, rule, 1));
    DO(esker_builder_open(builder, &db));
    esker_merge_operator_free(rule);
    esker_builder_free(builder);
    DO(esker_db_default(db, &ships));
    DO(esker_put(ships, S("anna"), S("in port"), 0));
    DO(esker_snapshot_new(db, NULL, &snapshot));
    DO(esker_batch_new(db, &batch));
    DO(esker_batch_put(batch, ships, S("bela"), S("at sea")));
    DO(esker_iter_new(ships, NULL, NULL, 0, NULL, 0, 0, &iter));
    DO(esker_iter_seek_to_first(iter));
    DO(esker_tx_begin(db, ESKER_READ_COMMITTED, ESKER_LOCKING, 0, NULL, &tx));
    DO(esker_tx_interrupter(tx, &interrupter));
    DO(esker_tx_put(tx, ships, S("dora"), S("in dock")));
    DO(esker_merge(ships, S("merged"), S("x"), 0));
    CHECK(has(ships, NULL, "merged", "x") && calls > 0);
    in_a_child();
    /* All of it is as before, and of use. */
    CHECK(at(iter, "anna", "in port"));
    DO(esker_batch_commit(batch, 0));
    DO(esker_tx_commit(tx, 0));
    words = "";
    CHECK(has(ships, NULL, "bela", "at sea") && has(ships, NULL, "dora", "in dock"));
    esker_interrupter_free(interrupter);
    esker_tx_free(tx);
    esker_iter_free(iter);
    esker_batch_free(batch);
    esker_snapshot_free(snapshot);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    esker_value_free(value);
    return 0;
}
