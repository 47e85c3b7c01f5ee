/* A database that is damaged: verified, read as it is, repaired; and a copy beside its writer. */
#include "check.h"
#include <dirent.h>
#include <sys/stat.h>

/* Breaks the middle of every sorted file. */
static void damage(const char *dir) {
    char path[512];
    struct dirent *entry;
    DIR *files = opendir(dir);
    FILE *file;
    long size;
    int broken = 0;
    CHECK(files != NULL);
    while ((entry = readdir(files)) != NULL) {
        if (strstr(entry->d_name, ".sst") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        file = fopen(path, "r+");
        CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
        size = ftell(file);
        CHECK(fseek(file, size / 3, SEEK_SET) == 0 && fwrite("broken", 1, 6, file) == 6);
        CHECK(fclose(file) == 0);
        broken++;
    }
    closedir(files);
    CHECK(broken > 0);
}

int main(void) {
    esker_builder *builder;
    esker_db *db, *copy;
    esker_keyspace *ships;
    char key[16], *report;
    int number, is_lossy;
    DO(esker_open("harbour", &db));
    DO(esker_db_default(db, &ships));
    for (number = 0; number < 5000; number++) {
        snprintf(key, sizeof key, "%04d", number);
        DO(esker_put(ships, S(key), S("in port"), 0));
    }
    DO(esker_flush(ships));
    DO(esker_put(ships, S("late"), S("at sea"), 0));
    /* Beside the process that writes. */
    DO(esker_checkpoint_beside("harbour", "copy"));
    DO(esker_open("copy", &copy));
    esker_db_free(copy);
    esker_keyspace_free(ships);
    DO(esker_db_close(db));
    esker_db_free(db);
    CHECK(esker_repair("nowhere", 0, &is_lossy, &report) == ESKER_INVALID && report == NULL);
    damage("harbour");
    DO(esker_open("harbour", &db));
    REFUSED(esker_db_verify(db), ESKER_CORRUPTION, ".sst");
    esker_db_free(db);
    DO(esker_builder_new("harbour", &builder));
    CHECK(mkdir("scratch", 0700) == 0);
    DO(esker_builder_open_past_damage(builder, "scratch", &is_lossy, &report, &db));
    CHECK(is_lossy == 1 && strlen(report) > 20);
    esker_string_free(report);
    DO(esker_db_default(db, &ships));
    CHECK(has(ships, NULL, "late", "at sea"));
    esker_keyspace_free(ships);
    esker_db_free(db);
    esker_builder_free(builder);
    DO(esker_repair("harbour", 1, NULL, NULL));
    DO(esker_repair("harbour", 0, &is_lossy, &report));
    CHECK(is_lossy == 1 && strlen(report) > 20);
    esker_string_free(report);
    DO(esker_open("harbour", &db));
    DO(esker_db_verify(db));
    DO(esker_db_default(db, &ships));
    CHECK(has(ships, NULL, "late", "at sea") && has(ships, NULL, "4999", "in port"));
    esker_keyspace_free(ships);
    esker_db_free(db);
    return 0;
}
