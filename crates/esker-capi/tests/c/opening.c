/* Versions and codes, settings by name, and databases that are opened, or not. */
#include "check.h"

static void about(void) {
    CHECK(esker_abi_version() == ESKER_ABI_VERSION);
    CHECK(strchr(esker_version(), '.') != NULL);
    CHECK(strcmp(esker_errmsg(), "") == 0);
    CHECK(strcmp(esker_code_name(ESKER_OK), "ok") == 0);
    CHECK(strcmp(esker_code_name(ESKER_LOCK_TIMEOUT), "lock timeout") == 0);
    CHECK(strcmp(esker_code_name(ESKER_BUFFER_TOO_SMALL), "buffer too small") == 0);
    CHECK(esker_code_name(-1) == NULL && esker_code_name(1000) == NULL);
    CHECK(esker_is_retryable(ESKER_BUSY) == 1 && esker_is_retryable(ESKER_CONFLICT) == 1);
    CHECK(esker_is_retryable(ESKER_OK) == 0 && esker_is_retryable(ESKER_INVALID) == 0);
    CHECK(esker_is_retryable(-1) == 0);
    esker_string_free(NULL);
    esker_strings_free(NULL, 7);
}

static void settings(void) {
    esker_builder *builder;
    esker_db *db, *other;
    DO(esker_builder_new("chosen", &builder));
    DO(esker_builder_set(builder, "memory_limit", "64MiB"));
    REFUSED(esker_builder_set(builder, "memory_limit", "lots"), ESKER_INVALID, "memory_limit");
    REFUSED(esker_builder_set(builder, "memory_limits", "64MiB"), ESKER_INVALID, "memory_limit");
    DO(esker_builder_set(builder, "merge_operator", "append:,"));
    DO(esker_builder_create_if_missing(builder, 0));
    REFUSED(esker_builder_open(builder, &db), ESKER_INVALID, "chosen");
    CHECK(db == NULL);
    DO(esker_builder_create_if_missing(builder, 1));
    DO(esker_builder_open(builder, &db));
    DO(esker_db_close(db));
    DO(esker_db_close(db));
    esker_db_free(db);
    /* The builder is as it was, and opens again. */
    DO(esker_builder_error_if_exists(builder, 1));
    REFUSED(esker_builder_open(builder, &db), ESKER_INVALID, "chosen");
    DO(esker_builder_error_if_exists(builder, 0));
    DO(esker_builder_open(builder, &db));
    /* Another one, for reading only, meanwhile. */
    DO(esker_builder_read_only(builder, 1));
    DO(esker_builder_open(builder, &other));
    esker_db_free(other);
    DO(esker_builder_read_only(builder, 0));
    CHECK(esker_builder_open(builder, &other) == ESKER_LOCKED && other == NULL);
    esker_builder_free(builder);
    esker_builder_free(NULL);
    DO(esker_db_set(db, "memory_limit", "128MiB"));
    REFUSED(esker_db_set(db, "memory_limit", "lots"), ESKER_INVALID, "memory_limit");
    DO(esker_db_close(db));
    REFUSED(esker_db_set(db, "memory_limit", "64MiB"), ESKER_CLOSED, "closed");
    esker_db_free(db);
}

static void texts(void) {
    esker_db *db;
    char *text;
    DO(esker_open("told", &db));
    DO(esker_db_stats(db, &text));
    CHECK(strstr(text, "default") != NULL);
    esker_string_free(text);
    DO(esker_db_property(db, "leveldb.stats", &text));
    CHECK(strstr(text, "Compactions") != NULL);
    esker_string_free(text);
    CHECK(esker_db_property(db, "unheard.of", &text) == ESKER_NOT_FOUND && text == NULL);
    /* Freed without being closed: closed all the same, and opened again at once. */
    esker_db_free(db);
    DO(esker_open("told", &db));
    esker_db_free(db);
    esker_db_free(NULL);
    REFUSED(esker_open("/dev/null/x", &db), ESKER_IO, "/dev/null/x");
    CHECK(db == NULL);
}

int main(void) {
    about();
    settings();
    texts();
    return 0;
}
