/* Sorted files that leave a database, or are made beside it, and come into one. */
#include "check.h"

static void writer(esker_keyspace *ships, esker_db *db) {
    esker_keyspace_options *options = esker_keyspace_options_new();
    esker_file_set_summary summary;
    esker_sst_writer *writer;
    esker_keyspace *crews;
    const esker_keyspace *into[1];
    const char *dirs[1] = {"set"};
    uint64_t end;
    DO(esker_keyspace_options_set(options, "merge_operator", "append:,"));
    DO(esker_db_keyspace(db, "crews", options, &crews));
    DO(esker_put(crews, S("b"), S("hidden"), 0));
    DO(esker_put(crews, S("d"), S("deleted"), 0));
    DO(esker_put(crews, S("e"), S("base"), 0));
    DO(esker_sst_writer_new("set", options, &writer));
    DO(esker_sst_writer_delete_range(writer, S("b"), S("c")));
    DO(esker_sst_writer_put(writer, S("a"), S("1"), 0));
    DO(esker_sst_writer_put(writer, S("c"), S("3"), 4000000000000u));
    CHECK(esker_sst_writer_put(writer, S("b"), S("2"), 0) == ESKER_INVALID);
    DO(esker_sst_writer_delete(writer, S("d")));
    DO(esker_sst_writer_merge(writer, S("e"), S("more")));
    DO(esker_sst_writer_finish(writer, &summary));
    CHECK(summary.files > 0 && summary.entries == 4 && summary.range_deletes == 1);
    REFUSED(esker_sst_writer_put(writer, S("f"), S("6"), 0), ESKER_INVALID, "finished");
    REFUSED(esker_sst_writer_finish(writer, NULL), ESKER_INVALID, "finished");
    esker_sst_writer_free(writer);
    into[0] = crews;
    DO(esker_ingest(db, into, dirs, 1, ESKER_COPY, &summary));
    CHECK(summary.entries == 4 && summary.size_bytes > 0);
    CHECK(has(crews, NULL, "a", "1") && has(crews, NULL, "b", NULL) && has(crews, NULL, "c", "3"));
    CHECK(has(crews, NULL, "d", NULL) && has(crews, NULL, "e", "base,more"));
    DO(esker_expiry(crews, NULL, S("c"), 0, &end));
    CHECK(end == 4000000000000u);
    /* Begun and given up: nothing is left. */
    DO(esker_sst_writer_new("given up", NULL, &writer));
    DO(esker_sst_writer_put(writer, S("a"), S("1"), 0));
    esker_sst_writer_free(writer);
    esker_sst_writer_free(NULL);
    dirs[0] = "given up";
    CHECK(esker_ingest(db, into, dirs, 1, 0, NULL) != ESKER_OK);
    REFUSED(esker_ingest(db, into, dirs, 1, ESKER_COPY | ESKER_MOVE, NULL), ESKER_INVALID, "MOVE");
    REFUSED(esker_ingest(db, into, dirs, 1, 0x80, NULL), ESKER_INVALID, "flags");
    /* Only into what is not there: the key that is there stays. */
    DO(esker_put(ships, S("a"), S("ours"), 0));
    DO(esker_sst_writer_new("below", NULL, &writer));
    DO(esker_sst_writer_put(writer, S("a"), S("theirs"), 0));
    DO(esker_sst_writer_put(writer, S("z"), S("theirs"), 0));
    DO(esker_sst_writer_finish(writer, NULL));
    esker_sst_writer_free(writer);
    into[0] = ships;
    dirs[0] = "below";
    DO(esker_ingest(db, into, dirs, 1, ESKER_BELOW | ESKER_MOVE | ESKER_UNCHECKED, NULL));
    CHECK(has(ships, NULL, "a", "ours") && has(ships, NULL, "z", "theirs"));
    CHECK(esker_ingest(db, into, dirs, 1, 0, NULL) != ESKER_OK);
    esker_keyspace_options_free(options);
    esker_keyspace_free(crews);
}

static void leaving(esker_db *db) {
    esker_file_set_summary summary;
    const esker_keyspace *from[2];
    esker_keyspace *ships, *crews;
    esker_db *other;
    char **names;
    size_t count = 9;
    DO(esker_db_default(db, &ships));
    DO(esker_db_existing_keyspace(db, "crews", &crews));
    from[0] = ships;
    from[1] = crews;
    DO(esker_export(db, from, 2, "left", &summary));
    CHECK(summary.files >= 2 && summary.entries >= 6);
    CHECK(esker_export(db, from, 2, "left", NULL) == ESKER_INVALID);
    DO(esker_export(db, from, 1, "left again", NULL));
    DO(esker_open("other", &other));
    REFUSED(esker_export(other, from, 1, "x", NULL), ESKER_INVALID, "another database");
    DO(esker_ingest_by_name(other, "left", 0, &summary, &names, &count));
    CHECK(count == 2 && strcmp(names[0], "default") == 0 && strcmp(names[1], "crews") == 0);
    esker_strings_free(names, count);
    esker_keyspace_free(ships);
    esker_keyspace_free(crews);
    DO(esker_db_existing_keyspace(other, "crews", &crews));
    CHECK(has(crews, NULL, "e", "base,more"));
    esker_keyspace_free(crews);
    DO(esker_ingest_by_name(other, "left", ESKER_COPY, NULL, NULL, NULL));
    esker_db_free(other);
}

int main(void) {
    esker_db *db;
    esker_keyspace *ships;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    writer(ships, db);
    esker_keyspace_free(ships);
    leaving(db);
    DO(esker_db_close(db));
    esker_db_free(db);
    return 0;
}
