/* Merge operators, orders and retain rules of the program's own: called, refusing, and ended. */
#include "check.h"

/* What the callbacks get with them: their calls, whether they refuse, and their ends. */
struct state {
    int calls, refuses, ended;
    esker_keyspace *used;
};

static void end(void *state) {
    ((struct state *)state)->ended++;
}

/* The longest of all texts. */
static int fold(void *given, esker_bytes key, const esker_bytes *base, const esker_bytes *operands,
                size_t count, esker_buffer *made) {
    struct state *state = given;
    const esker_bytes *longest = base;
    size_t place;
    if (state->refuses)
        return 7;
    __atomic_fetch_add(&state->calls, 1, __ATOMIC_SEQ_CST);
    CHECK(key.size == 4);
    /* The database is not to be used here: that is refused, and nothing hangs. */
    if (state->used != NULL)
        CHECK(esker_put(state->used, S("x"), S("1"), 0) == ESKER_INVALID);
    for (place = 0; place < count; place++)
        if (longest == NULL || operands[place].size > longest->size)
            longest = &operands[place];
    return esker_buffer_append(made, longest->data, longest->size);
}

static int combine(void *given, esker_bytes key, esker_bytes older, esker_bytes newer,
                   esker_buffer *made) {
    (void)given;
    (void)key;
    return older.size < newer.size ? esker_buffer_append(made, newer.data, newer.size)
                                   : esker_buffer_append(made, older.data, older.size);
}

static void merges(void) {
    struct state state = {0, 0, 0, NULL}, lone = {0, 0, 0, NULL};
    esker_builder *builder;
    esker_merge_operator *rule, *ours;
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_keyspace *ships, *crews;
    esker_value *value = esker_value_new();
    esker_db *db;
    REFUSED(esker_merge_operator_named("unheard", &rule), ESKER_INVALID, "uint64add");
    CHECK(rule == NULL);
    DO(esker_merge_operator_new("longest", fold, combine, &state, end, &ours));
    /* Freed before anyone has it, it ends at once. */
    DO(esker_merge_operator_new("lone", fold, NULL, &lone, end, &rule));
    esker_merge_operator_free(rule);
    CHECK(lone.ended == 1);
    DO(esker_builder_new("merging", &builder));
    DO(esker_builder_merge_operator(builder, ours, 1));
    DO(esker_merge_operator_named("append:-", &rule));
    DO(esker_builder_merge_operator(builder, rule, 0));
    DO(esker_builder_open(builder, &db));
    DO(esker_keyspace_options_merge_operator(options, rule));
    esker_merge_operator_free(rule);
    esker_merge_operator_free(NULL);
    DO(esker_db_keyspace(db, "crews", options, &crews));
    esker_keyspace_options_free(options);
    DO(esker_merge(crews, S("anna"), S("a"), 0));
    DO(esker_merge(crews, S("anna"), S("b"), 0));
    CHECK(has(crews, NULL, "anna", "a-b"));
    DO(esker_db_default(db, &ships));
    state.used = ships;
    DO(esker_put(ships, S("anna"), S("in port"), 0));
    DO(esker_merge(ships, S("anna"), S("at sea, far away"), 0));
    DO(esker_merge(ships, S("anna"), S("home"), 0));
    CHECK(has(ships, NULL, "anna", "at sea, far away") && state.calls > 0);
    DO(esker_merge(ships, S("bela"), S("alone"), 0));
    CHECK(has(ships, NULL, "bela", "alone"));
    state.refuses = 1;
    DO(esker_merge(ships, S("bela"), S("alone again"), 0));
    CHECK(esker_get(ships, NULL, S("bela"), 0, value) != ESKER_OK);
    CHECK(strstr(esker_errmsg(), "longest") != NULL && holds(value, NULL));
    state.refuses = 0;
    CHECK(has(ships, NULL, "bela", "alone again"));
    esker_keyspace_free(ships);
    esker_keyspace_free(crews);
    DO(esker_db_close(db));
    esker_db_free(db);
    /* Without it the database is not opened. */
    CHECK(esker_open("merging", &db) == ESKER_UNSUPPORTED);
    CHECK(state.ended == 0);
    DO(esker_builder_open(builder, &db));
    esker_builder_free(builder);
    esker_merge_operator_free(ours);
    CHECK(state.ended == 0);
    esker_db_free(db);
    CHECK(state.ended == 1);
    esker_value_free(value);
}

/* Backwards, by bytes. */
static int compare(void *given, const void *left, size_t left_size, const void *right,
                   size_t right_size) {
    size_t least = left_size < right_size ? left_size : right_size;
    int order = least == 0 ? 0 : memcmp(right, left, least);
    __atomic_fetch_add(&((struct state *)given)->calls, 1, __ATOMIC_SEQ_CST);
    CHECK(left != NULL && right != NULL);
    if (order != 0)
        return order;
    return (left_size < right_size) - (left_size > right_size);
}

static void orders(void) {
    struct state state = {0, 0, 0, NULL};
    esker_builder *builder;
    esker_comparator *comparator;
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_keyspace *ships, *plain;
    esker_iter *iter;
    esker_db *db;
    DO(esker_comparator_new("backwards", compare, &state, end, &comparator));
    DO(esker_builder_new("ordered", &builder));
    DO(esker_builder_comparator(builder, comparator, 0));
    DO(esker_builder_open(builder, &db));
    DO(esker_keyspace_options_comparator(options, comparator));
    DO(esker_db_keyspace(db, "ships", options, &ships));
    esker_keyspace_options_free(options);
    DO(esker_put(ships, S("a"), S("1"), 0));
    DO(esker_put(ships, S("b"), S("2"), 0));
    DO(esker_put(ships, S("c"), S("3"), 0));
    DO(esker_flush(ships));
    DO(esker_iter_new(ships, NULL, S("c"), S("a"), 0, &iter));
    DO(esker_iter_seek_to_first(iter));
    CHECK(at(iter, "c", "3"));
    DO(esker_iter_next(iter));
    CHECK(at(iter, "b", "2") && esker_iter_next(iter) == ESKER_NOT_FOUND);
    esker_iter_free(iter);
    CHECK(state.calls > 0);
    DO(esker_db_default(db, &plain));
    esker_keyspace_free(plain);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    esker_builder_free(builder);
    /* "default" of another database. */
    DO(esker_builder_new("ordered too", &builder));
    DO(esker_builder_comparator(builder, comparator, 1));
    esker_comparator_free(comparator);
    esker_comparator_free(NULL);
    DO(esker_builder_open(builder, &db));
    esker_builder_free(builder);
    CHECK(state.ended == 0);
    esker_db_free(db);
    CHECK(state.ended == 1);
}

/* Keeps what is not empty; refuses where it is told to. */
static int retain(void *given, const esker_retain_entry *entry) {
    struct state *state = given;
    size_t key_size, size;
    const void *key = esker_retain_entry_key(entry, &key_size), *value;
    uint64_t expiry, now;
    CHECK(key != NULL && key_size == 4);
    DO(esker_retain_entry_value(entry, &value, &size));
    DO(esker_retain_entry_times(entry, &expiry, &now));
    CHECK(now > 1600000000000u && (expiry == 0 || expiry == 4000000000000u));
    DO(esker_retain_entry_value(entry, NULL, NULL));
    DO(esker_retain_entry_times(entry, NULL, NULL));
    __atomic_fetch_add(&state->calls, 1, __ATOMIC_SEQ_CST);
    return state->refuses ? 3 : size != 0;
}

static void rules(void) {
    struct state state = {0, 0, 0, NULL};
    esker_builder *builder;
    esker_retain_rule *rule;
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_keyspace *ships, *crews;
    esker_db *db;
    DO(esker_retain_rule_new("not empty", retain, &state, end, &rule));
    DO(esker_builder_new("retained", &builder));
    DO(esker_builder_retain_rule(builder, "default", rule));
    DO(esker_keyspace_options_retain_rule(options, rule));
    esker_retain_rule_free(rule);
    esker_retain_rule_free(NULL);
    DO(esker_builder_open(builder, &db));
    esker_builder_free(builder);
    DO(esker_db_keyspace(db, "crews", options, &crews));
    esker_keyspace_options_free(options);
    DO(esker_put(crews, S("dora"), NULL, 0, 0));
    DO(esker_compact(crews, NULL, 0, NULL, 0));
    CHECK(has(crews, NULL, "dora", NULL));
    esker_keyspace_free(crews);
    DO(esker_db_default(db, &ships));
    DO(esker_put(ships, S("anna"), NULL, 0, 0));
    DO(esker_put_until(ships, S("bela"), S("at sea"), 4000000000000u, 0));
    state.refuses = 1;
    CHECK(esker_compact(ships, NULL, 0, NULL, 0) != ESKER_OK);
    CHECK(strstr(esker_errmsg(), "not empty") != NULL);
    state.refuses = 0;
    DO(esker_compact(ships, NULL, 0, NULL, 0));
    CHECK(has(ships, NULL, "anna", NULL) && has(ships, NULL, "bela", "at sea"));
    CHECK(state.calls > 0);
    esker_keyspace_free(ships);
    esker_db_free(db);
    CHECK(state.ended == 1);
}

int main(void) {
    merges();
    orders();
    rules();
    return 0;
}
