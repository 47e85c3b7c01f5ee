/* What NULL means to each function, in each of its places: what the header says, and no crash. */
#include "check.h"

/* Checks that a call refused a NULL, and says so. */
#define NEEDS(call) REFUSED(call, ESKER_INVALID, "NULL")

static void of_databases(esker_db *db) {
    esker_builder *builder;
    esker_db *other;
    esker_keyspace *keyspace;
    esker_snapshot *snapshot;
    esker_batch *batch;
    char **names;
    char *text;
    size_t count = 9;
    NEEDS(esker_open(NULL, &other));
    CHECK(other == NULL);
    NEEDS(esker_open("x", NULL));
    NEEDS(esker_builder_new(NULL, &builder));
    CHECK(builder == NULL);
    NEEDS(esker_builder_new("x", NULL));
    DO(esker_builder_new("x", &builder));
    NEEDS(esker_builder_set(NULL, "memory_limit", "64MiB"));
    NEEDS(esker_builder_set(builder, NULL, "64MiB"));
    NEEDS(esker_builder_set(builder, "memory_limit", NULL));
    REFUSED(esker_builder_set(builder, "\xff", "1"), ESKER_INVALID, "UTF-8");
    NEEDS(esker_builder_create_if_missing(NULL, 1));
    NEEDS(esker_builder_error_if_exists(NULL, 1));
    NEEDS(esker_builder_read_only(NULL, 1));
    NEEDS(esker_builder_open(NULL, &other));
    NEEDS(esker_builder_open(builder, NULL));
    esker_builder_free(builder);
    NEEDS(esker_db_close(NULL));
    NEEDS(esker_db_default(NULL, &keyspace));
    NEEDS(esker_db_default(db, NULL));
    NEEDS(esker_db_keyspace(NULL, "x", NULL, &keyspace));
    NEEDS(esker_db_keyspace(db, NULL, NULL, &keyspace));
    NEEDS(esker_db_keyspace(db, "x", NULL, NULL));
    NEEDS(esker_db_existing_keyspace(NULL, "x", &keyspace));
    NEEDS(esker_db_existing_keyspace(db, NULL, &keyspace));
    NEEDS(esker_db_existing_keyspace(db, "x", NULL));
    CHECK(keyspace == NULL);
    NEEDS(esker_db_drop_keyspace(NULL, "x"));
    NEEDS(esker_db_drop_keyspace(db, NULL));
    NEEDS(esker_db_keyspaces(NULL, &names, &count));
    CHECK(names == NULL && count == 0);
    NEEDS(esker_db_keyspaces(db, NULL, &count));
    NEEDS(esker_db_keyspaces(db, &names, NULL));
    CHECK(names == NULL);
    NEEDS(esker_db_flush(NULL));
    NEEDS(esker_db_sync(NULL));
    NEEDS(esker_db_set(NULL, "memory_limit", "64MiB"));
    NEEDS(esker_db_set(db, NULL, "64MiB"));
    NEEDS(esker_db_set(db, "memory_limit", NULL));
    NEEDS(esker_db_stats(NULL, &text));
    NEEDS(esker_db_stats(db, NULL));
    NEEDS(esker_db_property(NULL, "esker.stats", &text));
    NEEDS(esker_db_property(db, NULL, &text));
    CHECK(text == NULL);
    NEEDS(esker_db_property(db, "esker.stats", NULL));
    NEEDS(esker_db_checkpoint(NULL, "x"));
    NEEDS(esker_db_checkpoint(db, NULL));
    NEEDS(esker_db_verify(NULL));
    NEEDS(esker_snapshot_new(NULL, "owner", &snapshot));
    CHECK(snapshot == NULL);
    NEEDS(esker_snapshot_new(db, "owner", NULL));
    NEEDS(esker_batch_new(NULL, &batch));
    CHECK(batch == NULL);
    NEEDS(esker_batch_new(db, NULL));
}

static void of_keyspaces(esker_keyspace *ships) {
    esker_keyspace *clone;
    char *name;
    uint64_t disk = 9, memory = 9, keys = 9;
    NEEDS(esker_keyspace_clone(NULL, &clone));
    CHECK(clone == NULL);
    NEEDS(esker_keyspace_clone(ships, NULL));
    NEEDS(esker_keyspace_name(NULL, &name));
    CHECK(name == NULL);
    NEEDS(esker_keyspace_name(ships, NULL));
    NEEDS(esker_keyspace_set(NULL, "compression", "lz4"));
    NEEDS(esker_keyspace_set(ships, NULL, "lz4"));
    NEEDS(esker_keyspace_set(ships, "compression", NULL));
    NEEDS(esker_flush(NULL));
    NEEDS(esker_compact(NULL, NULL, 0, NULL, 0));
    NEEDS(esker_approximate(NULL, NULL, 0, NULL, 0, &disk, &memory, &keys));
    /* A bound that is NULL is none, whatever its size says. */
    DO(esker_approximate(ships, NULL, 4, NULL, 4, &disk, &memory, &keys));
    CHECK(disk == 0 && keys < 9);
    NEEDS(esker_put(NULL, S("a"), S("1"), 0));
    NEEDS(esker_put(ships, NULL, 1, S("1"), 0));
    NEEDS(esker_put(ships, S("a"), NULL, 1, 0));
    NEEDS(esker_put_with_ttl(NULL, S("a"), S("1"), 1, 0));
    NEEDS(esker_put_with_ttl(ships, NULL, 1, S("1"), 1, 0));
    NEEDS(esker_put_with_ttl(ships, S("a"), NULL, 1, 1, 0));
    NEEDS(esker_put_until(NULL, S("a"), S("1"), 1, 0));
    NEEDS(esker_put_until(ships, NULL, 1, S("1"), 1, 0));
    NEEDS(esker_put_until(ships, S("a"), NULL, 1, 1, 0));
    NEEDS(esker_delete(NULL, S("a"), 0));
    NEEDS(esker_delete(ships, NULL, 1, 0));
    NEEDS(esker_delete_range(NULL, NULL, 0, NULL, 0, 0));
    NEEDS(esker_merge(NULL, S("a"), S("1"), 0));
    NEEDS(esker_merge(ships, NULL, 1, S("1"), 0));
    NEEDS(esker_merge(ships, S("a"), NULL, 1, 0));
}

static void of_reads(esker_keyspace *ships) {
    esker_value *value = esker_value_new();
    esker_value *values[1];
    esker_bytes key = {"a", 1};
    esker_iter *iter;
    char buffer[4];
    size_t size = 9;
    uint64_t end = 9;
    values[0] = value;
    NEEDS(esker_get(NULL, NULL, S("a"), 0, value));
    NEEDS(esker_get(ships, NULL, NULL, 1, 0, value));
    NEEDS(esker_get(ships, NULL, S("a"), 0, NULL));
    NEEDS(esker_get_into(NULL, NULL, S("a"), 0, buffer, 4, &size));
    CHECK(size == 0);
    NEEDS(esker_get_into(ships, NULL, NULL, 1, 0, buffer, 4, &size));
    NEEDS(esker_get_into(ships, NULL, S("a"), 0, NULL, 4, &size));
    NEEDS(esker_get_into(ships, NULL, S("a"), 0, buffer, 4, NULL));
    NEEDS(esker_contains(NULL, NULL, S("a"), 0));
    NEEDS(esker_contains(ships, NULL, NULL, 1, 0));
    NEEDS(esker_expiry(NULL, NULL, S("a"), 0, &end));
    CHECK(end == 0);
    NEEDS(esker_expiry(ships, NULL, NULL, 1, 0, &end));
    NEEDS(esker_multi_get(NULL, NULL, &key, 1, 0, values));
    NEEDS(esker_multi_get(ships, NULL, NULL, 1, 0, values));
    NEEDS(esker_multi_get(ships, NULL, &key, 1, 0, NULL));
    NEEDS(esker_iter_new(NULL, NULL, NULL, 0, NULL, 0, 0, &iter));
    CHECK(iter == NULL);
    NEEDS(esker_iter_new(ships, NULL, NULL, 0, NULL, 0, 0, NULL));
    DO(esker_iter_new(ships, NULL, NULL, 4, NULL, 4, 0, &iter));
    NEEDS(esker_iter_seek_to_first(NULL));
    NEEDS(esker_iter_seek_to_last(NULL));
    NEEDS(esker_iter_seek(NULL, S("a")));
    NEEDS(esker_iter_seek(iter, NULL, 1));
    NEEDS(esker_iter_seek_for_prev(NULL, S("a")));
    NEEDS(esker_iter_seek_for_prev(iter, NULL, 1));
    NEEDS(esker_iter_next(NULL));
    NEEDS(esker_iter_prev(NULL));
    size = 9;
    CHECK(esker_iter_valid(NULL) == 0 && esker_iter_key(NULL, &size) == NULL && size == 0);
    CHECK(esker_iter_key(NULL, NULL) == NULL);
    NEEDS(esker_iter_value(NULL, NULL, &size));
    NEEDS(esker_iter_value_pinned(NULL, value));
    NEEDS(esker_iter_value_pinned(iter, NULL));
    NEEDS(esker_iter_expiry(NULL, &end));
    NEEDS(esker_iter_refresh(NULL));
    esker_iter_free(iter);
    size = 9;
    CHECK(esker_value_data(NULL, &size) == NULL && size == 0);
    CHECK(esker_value_data(NULL, NULL) == NULL);
    esker_value_clear(NULL);
    esker_value_free(value);
}

static void of_batches(esker_db *db, esker_keyspace *ships) {
    esker_batch *batch;
    DO(esker_batch_new(db, &batch));
    NEEDS(esker_batch_put(NULL, ships, S("a"), S("1")));
    NEEDS(esker_batch_put(batch, NULL, S("a"), S("1")));
    NEEDS(esker_batch_put(batch, ships, NULL, 1, S("1")));
    NEEDS(esker_batch_put(batch, ships, S("a"), NULL, 1));
    NEEDS(esker_batch_put_with_ttl(NULL, ships, S("a"), S("1"), 1));
    NEEDS(esker_batch_put_with_ttl(batch, NULL, S("a"), S("1"), 1));
    NEEDS(esker_batch_put_with_ttl(batch, ships, NULL, 1, S("1"), 1));
    NEEDS(esker_batch_put_with_ttl(batch, ships, S("a"), NULL, 1, 1));
    NEEDS(esker_batch_put_until(NULL, ships, S("a"), S("1"), 1));
    NEEDS(esker_batch_put_until(batch, NULL, S("a"), S("1"), 1));
    NEEDS(esker_batch_put_until(batch, ships, NULL, 1, S("1"), 1));
    NEEDS(esker_batch_put_until(batch, ships, S("a"), NULL, 1, 1));
    NEEDS(esker_batch_delete(NULL, ships, S("a")));
    NEEDS(esker_batch_delete(batch, NULL, S("a")));
    NEEDS(esker_batch_delete(batch, ships, NULL, 1));
    NEEDS(esker_batch_delete_range(NULL, ships, S("a"), S("b")));
    NEEDS(esker_batch_delete_range(batch, NULL, S("a"), S("b")));
    NEEDS(esker_batch_delete_range(batch, ships, S("a"), NULL, 0));
    NEEDS(esker_batch_merge(NULL, ships, S("a"), S("1")));
    NEEDS(esker_batch_merge(batch, NULL, S("a"), S("1")));
    NEEDS(esker_batch_merge(batch, ships, NULL, 1, S("1")));
    NEEDS(esker_batch_merge(batch, ships, S("a"), NULL, 1));
    NEEDS(esker_batch_set_expiry(NULL, ships, S("a"), 1));
    NEEDS(esker_batch_set_expiry(batch, NULL, S("a"), 1));
    NEEDS(esker_batch_set_expiry(batch, ships, NULL, 1, 1));
    NEEDS(esker_batch_commit(NULL, 0));
    CHECK(esker_batch_count(batch) == 0);
    esker_batch_free(batch);
}

static int visit(void *state, const void *id, size_t id_size, uint64_t writes, uint64_t age_ms) {
    (void)state, (void)id, (void)id_size, (void)writes, (void)age_ms;
    return 0;
}

static void hear(void *state, int code) {
    (void)state, (void)code;
}

static int fold(void *state, esker_bytes key, const esker_bytes *base, const esker_bytes *operands,
                size_t count, esker_buffer *made) {
    (void)state, (void)key, (void)base, (void)operands, (void)count, (void)made;
    return 1;
}

static int compare(void *state, const void *left, size_t left_size, const void *right,
                   size_t right_size) {
    (void)state, (void)left, (void)left_size, (void)right, (void)right_size;
    return 0;
}

static int retain(void *state, const esker_retain_entry *entry) {
    (void)state, (void)entry;
    return 1;
}

static int ended;

static void end(void *state) {
    (void)state;
    ended++;
}

static void of_callbacks(void) {
    esker_builder *builder;
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_merge_operator *rule;
    esker_comparator *order;
    esker_retain_rule *retains;
    size_t size = 9;
    uint64_t time;
    DO(esker_builder_new("x", &builder));
    NEEDS(esker_merge_operator_named(NULL, &rule));
    NEEDS(esker_merge_operator_named("put", NULL));
    /* What is not made ends at once. */
    NEEDS(esker_merge_operator_new(NULL, fold, NULL, NULL, end, &rule));
    NEEDS(esker_merge_operator_new("a", NULL, NULL, NULL, end, &rule));
    NEEDS(esker_merge_operator_new("a", fold, NULL, NULL, end, NULL));
    NEEDS(esker_comparator_new(NULL, compare, NULL, end, &order));
    NEEDS(esker_comparator_new("a", NULL, NULL, end, &order));
    NEEDS(esker_comparator_new("a", compare, NULL, end, NULL));
    NEEDS(esker_retain_rule_new(NULL, retain, NULL, end, &retains));
    NEEDS(esker_retain_rule_new("a", NULL, NULL, end, &retains));
    NEEDS(esker_retain_rule_new("a", retain, NULL, end, NULL));
    CHECK(ended == 9 && rule == NULL && order == NULL && retains == NULL);
    DO(esker_merge_operator_new("a", fold, NULL, NULL, NULL, &rule));
    DO(esker_comparator_new("a", compare, NULL, NULL, &order));
    DO(esker_retain_rule_new("a", retain, NULL, NULL, &retains));
    NEEDS(esker_builder_merge_operator(NULL, rule, 1));
    NEEDS(esker_builder_merge_operator(builder, NULL, 1));
    NEEDS(esker_builder_comparator(NULL, order, 1));
    NEEDS(esker_builder_comparator(builder, NULL, 1));
    NEEDS(esker_builder_retain_rule(NULL, "default", retains));
    NEEDS(esker_builder_retain_rule(builder, NULL, retains));
    NEEDS(esker_builder_retain_rule(builder, "default", NULL));
    NEEDS(esker_keyspace_options_set(NULL, "ttl", "7d"));
    NEEDS(esker_keyspace_options_set(options, NULL, "7d"));
    NEEDS(esker_keyspace_options_set(options, "ttl", NULL));
    NEEDS(esker_keyspace_options_merge_operator(NULL, rule));
    NEEDS(esker_keyspace_options_merge_operator(options, NULL));
    NEEDS(esker_keyspace_options_comparator(NULL, order));
    NEEDS(esker_keyspace_options_comparator(options, NULL));
    NEEDS(esker_keyspace_options_retain_rule(NULL, retains));
    NEEDS(esker_keyspace_options_retain_rule(options, NULL));
    NEEDS(esker_buffer_append(NULL, S("a")));
    CHECK(esker_retain_entry_key(NULL, &size) == NULL && size == 0);
    NEEDS(esker_retain_entry_value(NULL, NULL, &size));
    NEEDS(esker_retain_entry_times(NULL, NULL, &time));
    esker_merge_operator_free(rule);
    esker_comparator_free(order);
    esker_retain_rule_free(retains);
    esker_keyspace_options_free(options);
    esker_builder_free(builder);
}

static void of_transactions(esker_db *db, esker_keyspace *ships) {
    esker_value *value = esker_value_new();
    esker_value *values[1];
    esker_bytes key = {"a", 1};
    esker_iter *iter;
    esker_tx *tx;
    uint64_t count;
    values[0] = value;
    NEEDS(esker_tx_begin(NULL, ESKER_SNAPSHOT, ESKER_LOCKING, 0, NULL, &tx));
    CHECK(tx == NULL);
    NEEDS(esker_tx_begin(db, ESKER_SNAPSHOT, ESKER_LOCKING, 0, NULL, NULL));
    DO(esker_tx_begin(db, ESKER_SNAPSHOT, ESKER_LOCKING, 0, NULL, &tx));
    NEEDS(esker_tx_get(NULL, ships, S("a"), 0, value));
    NEEDS(esker_tx_get(tx, NULL, S("a"), 0, value));
    NEEDS(esker_tx_get(tx, ships, NULL, 1, 0, value));
    NEEDS(esker_tx_get(tx, ships, S("a"), 0, NULL));
    NEEDS(esker_tx_get_for_update(NULL, ships, S("a"), value));
    NEEDS(esker_tx_get_for_update(tx, NULL, S("a"), value));
    NEEDS(esker_tx_get_for_update(tx, ships, NULL, 1, value));
    NEEDS(esker_tx_get_for_update(tx, ships, S("a"), NULL));
    NEEDS(esker_tx_multi_get(NULL, ships, &key, 1, 0, values));
    NEEDS(esker_tx_multi_get(tx, NULL, &key, 1, 0, values));
    NEEDS(esker_tx_multi_get(tx, ships, NULL, 1, 0, values));
    NEEDS(esker_tx_multi_get(tx, ships, &key, 1, 0, NULL));
    NEEDS(esker_tx_iter_new(NULL, ships, NULL, 0, NULL, 0, 0, &iter));
    CHECK(iter == NULL);
    NEEDS(esker_tx_iter_new(tx, NULL, NULL, 0, NULL, 0, 0, &iter));
    NEEDS(esker_tx_iter_new(tx, ships, NULL, 0, NULL, 0, 0, NULL));
    NEEDS(esker_tx_put(NULL, ships, S("a"), S("1")));
    NEEDS(esker_tx_put(tx, NULL, S("a"), S("1")));
    NEEDS(esker_tx_put(tx, ships, NULL, 1, S("1")));
    NEEDS(esker_tx_put(tx, ships, S("a"), NULL, 1));
    NEEDS(esker_tx_put_with_ttl(NULL, ships, S("a"), S("1"), 1));
    NEEDS(esker_tx_put_with_ttl(tx, NULL, S("a"), S("1"), 1));
    NEEDS(esker_tx_put_with_ttl(tx, ships, NULL, 1, S("1"), 1));
    NEEDS(esker_tx_put_with_ttl(tx, ships, S("a"), NULL, 1, 1));
    NEEDS(esker_tx_put_until(NULL, ships, S("a"), S("1"), 1));
    NEEDS(esker_tx_put_until(tx, NULL, S("a"), S("1"), 1));
    NEEDS(esker_tx_put_until(tx, ships, NULL, 1, S("1"), 1));
    NEEDS(esker_tx_put_until(tx, ships, S("a"), NULL, 1, 1));
    NEEDS(esker_tx_delete(NULL, ships, S("a")));
    NEEDS(esker_tx_delete(tx, NULL, S("a")));
    NEEDS(esker_tx_delete(tx, ships, NULL, 1));
    NEEDS(esker_tx_delete_range(NULL, ships, S("a"), S("b")));
    NEEDS(esker_tx_delete_range(tx, NULL, S("a"), S("b")));
    NEEDS(esker_tx_delete_range(tx, ships, S("a"), NULL, 0));
    NEEDS(esker_tx_merge(NULL, ships, S("a"), S("1")));
    NEEDS(esker_tx_merge(tx, NULL, S("a"), S("1")));
    NEEDS(esker_tx_merge(tx, ships, NULL, 1, S("1")));
    NEEDS(esker_tx_merge(tx, ships, S("a"), NULL, 1));
    NEEDS(esker_tx_set_expiry(NULL, ships, S("a"), 1));
    NEEDS(esker_tx_set_expiry(tx, NULL, S("a"), 1));
    NEEDS(esker_tx_set_expiry(tx, ships, NULL, 1, 1));
    NEEDS(esker_tx_savepoint(NULL, &count));
    NEEDS(esker_tx_savepoint(tx, NULL));
    NEEDS(esker_tx_rollback_to(NULL, 1));
    NEEDS(esker_tx_release(NULL, 1));
    NEEDS(esker_tx_size(NULL, &count, &count));
    NEEDS(esker_tx_commit(NULL, 0));
    NEEDS(esker_tx_rollback(NULL, 0));
    NEEDS(esker_tx_prepare(NULL, S("id")));
    NEEDS(esker_tx_prepare(tx, NULL, 2));
    NEEDS(esker_tx_commit_ordered(NULL));
    NEEDS(esker_tx_finish(NULL, 0));
    DO(esker_tx_commit(tx, 0));
    esker_tx_free(tx);
    esker_tx_free(NULL);
    esker_value_free(value);
    NEEDS(esker_db_prepared(NULL, visit, NULL));
    NEEDS(esker_db_prepared(db, NULL, NULL));
    DO(esker_db_prepared(db, visit, NULL));
    NEEDS(esker_db_commit_prepared(NULL, S("id"), 0));
    NEEDS(esker_db_commit_prepared(db, NULL, 2, 0));
    NEEDS(esker_db_rollback_prepared(NULL, S("id"), 0));
    NEEDS(esker_db_rollback_prepared(db, NULL, 2, 0));
    NEEDS(esker_db_notify_when_durable(NULL, hear, NULL));
    NEEDS(esker_db_notify_when_durable(db, NULL, NULL));
    DO(esker_db_notify_when_durable(db, hear, NULL));
}

static int counter(void *state, const char *name, const char *meaning, uint64_t count) {
    (void)state, (void)name, (void)meaning, (void)count;
    return 0;
}

static void line(void *state, const char *text) {
    (void)state, (void)text;
}

static void of_the_rest(esker_db *db, esker_keyspace *ships) {
    esker_builder *builder;
    esker_db *other;
    char **texts;
    char *report;
    size_t count = 9;
    int is_lossy = 9, before = ended;
    NEEDS(esker_put_if_absent(NULL, S("a"), S("1"), 0));
    NEEDS(esker_put_if_absent(ships, NULL, 1, S("1"), 0));
    NEEDS(esker_put_if_absent(ships, S("a"), NULL, 1, 0));
    NEEDS(esker_compare_and_swap(NULL, S("a"), S("1"), S("2"), 0));
    NEEDS(esker_compare_and_swap(ships, NULL, 1, S("1"), S("2"), 0));
    DO(esker_compare_and_swap(ships, S("a"), NULL, 0, NULL, 0, 0));
    NEEDS(esker_delete_if_present(NULL, S("a"), 0));
    NEEDS(esker_delete_if_present(ships, NULL, 1, 0));
    NEEDS(esker_set_expiry(NULL, S("a"), 1, 0));
    NEEDS(esker_set_expiry(ships, NULL, 1, 1, 0));
    NEEDS(esker_keyspace_settings(NULL, &texts, &count));
    CHECK(texts == NULL && count == 0);
    NEEDS(esker_keyspace_settings(ships, NULL, &count));
    NEEDS(esker_keyspace_settings(ships, &texts, NULL));
    CHECK(texts == NULL);
    NEEDS(esker_flush_soon(NULL));
    NEEDS(esker_db_counters(NULL, counter, NULL));
    NEEDS(esker_db_counters(db, NULL, NULL));
    DO(esker_db_counters(db, counter, NULL));
    DO(esker_builder_new("x", &builder));
    NEEDS(esker_builder_event_listener(NULL, line, NULL, end));
    NEEDS(esker_builder_event_listener(builder, NULL, NULL, end));
    CHECK(ended == before + 2);
    DO(esker_builder_event_listener(builder, line, NULL, NULL));
    NEEDS(esker_repair(NULL, 1, &is_lossy, &report));
    CHECK(is_lossy == 0 && report == NULL);
    NEEDS(esker_builder_open_past_damage(NULL, "x", &is_lossy, &report, &other));
    NEEDS(esker_builder_open_past_damage(builder, NULL, &is_lossy, &report, &other));
    NEEDS(esker_builder_open_past_damage(builder, "x", &is_lossy, &report, NULL));
    CHECK(other == NULL && report == NULL);
    NEEDS(esker_checkpoint_beside(NULL, "x"));
    NEEDS(esker_checkpoint_beside("x", NULL));
    esker_builder_free(builder);
}

static void of_files(esker_db *db, const esker_keyspace *ships) {
    const esker_keyspace *nothing = NULL;
    const char *dir = "x", *no_dir = NULL;
    esker_sst_writer *writer;
    char **names;
    size_t count;
    NEEDS(esker_export(NULL, &ships, 1, "x", NULL));
    NEEDS(esker_export(db, NULL, 1, "x", NULL));
    NEEDS(esker_export(db, &nothing, 1, "x", NULL));
    NEEDS(esker_export(db, &ships, 1, NULL, NULL));
    NEEDS(esker_ingest(NULL, &ships, &dir, 1, 0, NULL));
    NEEDS(esker_ingest(db, NULL, &dir, 1, 0, NULL));
    NEEDS(esker_ingest(db, &nothing, &dir, 1, 0, NULL));
    NEEDS(esker_ingest(db, &ships, NULL, 1, 0, NULL));
    NEEDS(esker_ingest(db, &ships, &no_dir, 1, 0, NULL));
    NEEDS(esker_ingest_by_name(NULL, "x", 0, NULL, &names, &count));
    CHECK(names == NULL && count == 0);
    NEEDS(esker_ingest_by_name(db, NULL, 0, NULL, &names, &count));
    NEEDS(esker_ingest_by_name(db, "x", 0, NULL, NULL, &count));
    NEEDS(esker_ingest_by_name(db, "x", 0, NULL, &names, NULL));
    NEEDS(esker_sst_writer_new(NULL, NULL, &writer));
    CHECK(writer == NULL);
    NEEDS(esker_sst_writer_new("set", NULL, NULL));
    DO(esker_sst_writer_new("set", NULL, &writer));
    NEEDS(esker_sst_writer_put(NULL, S("a"), S("1"), 0));
    NEEDS(esker_sst_writer_put(writer, NULL, 1, S("1"), 0));
    NEEDS(esker_sst_writer_put(writer, S("a"), NULL, 1, 0));
    NEEDS(esker_sst_writer_delete(NULL, S("a")));
    NEEDS(esker_sst_writer_delete(writer, NULL, 1));
    NEEDS(esker_sst_writer_merge(NULL, S("a"), S("1")));
    NEEDS(esker_sst_writer_merge(writer, NULL, 1, S("1")));
    NEEDS(esker_sst_writer_merge(writer, S("a"), NULL, 1));
    NEEDS(esker_sst_writer_delete_range(NULL, S("a"), S("b")));
    NEEDS(esker_sst_writer_delete_range(writer, S("a"), NULL, 0));
    NEEDS(esker_sst_writer_finish(NULL, NULL));
    esker_sst_writer_free(writer);
}

int main(void) {
    esker_db *db;
    esker_keyspace *ships;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    of_databases(db);
    of_keyspaces(ships);
    of_reads(ships);
    of_batches(db, ships);
    of_callbacks();
    of_transactions(db, ships);
    of_files(db, ships);
    of_the_rest(db, ships);
    /* Nothing of all that was written. */
    CHECK(esker_contains(ships, NULL, S("a"), 0) == ESKER_NOT_FOUND);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
