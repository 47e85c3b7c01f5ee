// What the server loads: the engine's name, settings, and its beginning and end.

#include "ha_esker.h"

#include "events.h"
#include "schema_tables.h"
#include "sorted_load.h"

#include <algorithm>

#ifdef ESKER_CRASHES
#include <csignal>
#include <unistd.h>
#endif

namespace {

const char *const kDirectory = "#esker";

const char *const kDurabilities[] = {"memory", "buffered", "sync", NullS};
TYPELIB durabilities = {array_elements(kDurabilities) - 1, "",
                        const_cast<const char **>(kDurabilities), nullptr};

const char *const kForeignKeys[] = {"warn", "refuse", NullS};
TYPELIB foreign_keys_words = {array_elements(kForeignKeys) - 1, "",
                              const_cast<const char **>(kForeignKeys), nullptr};

ulong durability_setting;
char *memory_limit;
char *checkpoint;

// SET GLOBAL esker_checkpoint = 'DIR': all tables as they are now, as a second directory.
int make_checkpoint(THD *, st_mysql_sys_var *, void *save, st_mysql_value *value) {
  char room[FN_REFLEN];
  int length = sizeof room;
  const char *directory = value->val_str(value, room, &length);
  *static_cast<const char **>(save) = "";
  if (!directory || !length) return 0;
  if (!esker_db_checkpoint(esker::catalog->db(), directory)) return 0;
  my_printf_error(ER_UNKNOWN_ERROR, "ESKER: %s", MYF(0), esker_errmsg());
  return 1;
}

// It is an order, and has no value.
void keep_no_value(THD *, st_mysql_sys_var *, void *, const void *) {}

MYSQL_SYSVAR_ENUM(durability, durability_setting, PLUGIN_VAR_RQCMDARG,
                  "What a commit survives: memory (nothing, until it is flushed), buffered (a "
                  "killed server), sync (a power cut)",
                  nullptr, nullptr, 2, &durabilities);
MYSQL_SYSVAR_STR(memory_limit, memory_limit, PLUGIN_VAR_READONLY | PLUGIN_VAR_RQCMDARG,
                 "The memory that the engine may take, such as 512MiB", nullptr, nullptr,
                 "256MiB");
MYSQL_SYSVAR_STR(checkpoint, checkpoint, PLUGIN_VAR_RQCMDARG,
                 "Set to a directory that is empty or not there, copies all tables into it, by "
                 "links where it lies in the same file system",
                 make_checkpoint, keep_no_value, "");
MYSQL_THDVAR_ULONG(lock_wait_timeout, PLUGIN_VAR_RQCMDARG,
                   "Seconds that a statement waits for a lock; 0 is not to wait", nullptr, nullptr,
                   5, 0, 1073741824, 0);

MYSQL_THDVAR_ENUM(foreign_keys, PLUGIN_VAR_RQCMDARG,
                  "What comes of a table that is made with foreign keys, which are not kept: "
                  "warn (it is made without them), refuse",
                  nullptr, nullptr, 0, &foreign_keys_words);

MYSQL_THDVAR_BOOL(bulk_load, PLUGIN_VAR_OPCMDARG,
                  "Whether statements that bring many rows into an empty table which nobody else "
                  "uses write sorted files, and not a transaction",
                  nullptr, nullptr, TRUE);

MYSQL_THDVAR_ULONGLONG(sort_memory, PLUGIN_VAR_RQCMDARG,
                       "Bytes of memory that index entries are sorted in, when an index is built "
                       "or many rows are loaded; what does not fit goes to tmpdir",
                       nullptr, nullptr, 64 << 20, 64 << 10, 1ULL << 40, 0);

#ifdef ESKER_CRASHES
char *crash_place;
MYSQL_SYSVAR_STR(crash_at, crash_place, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
                 "Where the server is to end, for tests", nullptr, nullptr, nullptr);
#endif

st_mysql_sys_var *settings[] = {
#ifdef ESKER_CRASHES
                                MYSQL_SYSVAR(crash_at),
#endif
                                MYSQL_SYSVAR(durability), MYSQL_SYSVAR(memory_limit),
                                MYSQL_SYSVAR(checkpoint),
                                MYSQL_SYSVAR(lock_wait_timeout), MYSQL_SYSVAR(foreign_keys),
                                MYSQL_SYSVAR(bulk_load), MYSQL_SYSVAR(sort_memory),
                                nullptr};

// Jobs that run, memtables to be flushed, and levels to be merged: what is 0 at rest.
int count_pending(void *state, const char *name, const char *, double number) {
  auto *pending = static_cast<longlong *>(state);
  const bool is_counted = !strcmp(name, "esker_background_jobs") ||
                          !strcmp(name, "esker_keyspace_sealed_memtables");
  if (is_counted) *pending += static_cast<longlong>(number);
  if (!strcmp(name, "esker_level_score") && number >= 1) ++*pending;
  return 0;
}

int show_pending(MYSQL_THD, SHOW_VAR *to, void *place, system_status_var *, enum_var_type) {
  auto *pending = static_cast<longlong *>(place);
  *pending = 0;
  to->type = SHOW_LONGLONG;
  to->value = place;
  return esker_db_numbers(esker::catalog->db(), count_pending, pending);
}

// A number that counts up from the start.
template <ulonglong (*count)()>
int show_count(MYSQL_THD, SHOW_VAR *to, void *place, system_status_var *, enum_var_type) {
  *static_cast<longlong *>(place) = static_cast<longlong>(count());
  to->type = SHOW_LONGLONG;
  to->value = place;
  return 0;
}

SHOW_VAR status_variables[] = {
    SHOW_FUNC_ENTRY("Esker_batched_rows", &show_count<esker::batched_rows>),
    SHOW_FUNC_ENTRY("Esker_batches", &show_count<esker::batches>),
    SHOW_FUNC_ENTRY("Esker_pending_work", &show_pending),
    {nullptr, nullptr, SHOW_UNDEF}};

handler *make_handler(handlerton *hton, TABLE_SHARE *share, MEM_ROOT *root) {
  return new (root) ha_esker(hton, share);
}

std::string last_deadlock() {
  const esker::Event last = esker::events.deadlock();
  if (!last.at) return "";
  char when[32];
  tm parts;
  gmtime_r(&last.at, &parts);
  strftime(when, sizeof when, "%F %T UTC", &parts);
  return std::string("\nLast deadlock, ") + when + ", " + last.text + "\n";
}

bool show_status(handlerton *, THD *thd, stat_print_fn *print, ha_stat_type kind) {
  if (kind != HA_ENGINE_STATUS) return false;
  return esker::guarded([&] {
    char *stats = nullptr;
    if (esker_db_stats(esker::catalog->db(), &stats)) return 1;
    std::string text = stats;
    esker_string_free(stats);
    text += last_deadlock();
    return static_cast<int>(print(thd, "ESKER", 5, "", 0, text.data(), text.size()));
  });
}

bool flush_logs(handlerton *) {
  if (!esker_db_sync(esker::catalog->db())) return false;
  sql_print_error("ESKER: syncing the log: %s", esker_errmsg());
  return true;
}

// A file set that the server would delete beside its own: there is none.
const char *extensions[] = {NullS};

int begin(void *place) {
  auto *hton = static_cast<handlerton *>(place);
  if (esker_abi_version() != ESKER_ABI_VERSION) {
    sql_print_error("ESKER: built for interface %d, but the library's is %u", ESKER_ABI_VERSION,
                    esker_abi_version());
    return 1;
  }
  const std::string path = std::string(mysql_real_data_home) + kDirectory;
  const int failure = esker::guarded(
      [&] { return esker::Catalog::open(path.c_str(), memory_limit, &esker::catalog); });
  if (failure) {
    sql_print_error("ESKER: opening %s: %s", path.c_str(), esker_errmsg());
    return 1;
  }
  esker::engine = hton;
  hton->create = make_handler;
  hton->flags = HTON_SUPPORTS_EXTENDED_KEYS;
  hton->tablefile_extensions = extensions;
  hton->table_options = esker::table_options;
  hton->show_status = show_status;
  hton->flush_logs = flush_logs;
  hton->check_version = ha_esker::check_version;
  esker::Session::register_calls(hton);
  sql_print_information("ESKER: engine %s for server " MYSQL_SERVER_VERSION
                        "; mariadb-backup does not copy its tables",
                        esker_version());
  return 0;
}

int end(void *) {
  delete esker::catalog;
  esker::catalog = nullptr;
  return 0;
}

st_mysql_storage_engine interface = {MYSQL_HANDLERTON_INTERFACE_VERSION};
st_mysql_information_schema schema_interface = {MYSQL_INFORMATION_SCHEMA_INTERFACE_VERSION};

}  // namespace

namespace esker {

uint32 durability() {
  constexpr uint32 flags[] = {ESKER_MEMORY, ESKER_BUFFERED, ESKER_SYNC};
  return flags[durability_setting];
}

// NOWAIT and WAIT of a statement set the server's own variable.
ulonglong lock_wait_ms(THD *thd) {
  return 1000ULL * std::min<ulonglong>(THDVAR(thd, lock_wait_timeout),
                                       thd->variables.lock_wait_timeout);
}

#ifdef ESKER_CRASHES
void crash_at(const char *place) {
  if (crash_place && !strcmp(crash_place, place)) kill(getpid(), SIGKILL);
}
#endif

bool loads_files(THD *thd) { return THDVAR(thd, bulk_load); }

ulonglong sort_memory(THD *thd) { return THDVAR(thd, sort_memory); }

bool refuses_foreign_keys(THD *thd) { return THDVAR(thd, foreign_keys) == 1; }

}  // namespace esker

maria_declare_plugin(esker){
    MYSQL_STORAGE_ENGINE_PLUGIN,
    &interface,
    "ESKER",
    "Esker",
    "Tables in Esker: transactions, row locks, compressed files",
    PLUGIN_LICENSE_GPL,
    begin,
    end,
    0x0001,
    status_variables,
    settings,
    "0.1",
    MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
},
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_KEYSPACES",
        "Esker",
        "Tables and partitions of ESKER: what they take, and their settings",
        PLUGIN_LICENSE_GPL,
        esker::begin_keyspaces,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    },
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_PREPARED",
        "Esker",
        "Transactions of ESKER that are prepared and not ended",
        PLUGIN_LICENSE_GPL,
        esker::begin_prepared,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    },
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_LEVELS",
        "Esker",
        "Levels of the keyspaces of ESKER: files, bytes, entries",
        PLUGIN_LICENSE_GPL,
        esker::begin_levels,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    },
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_TRANSACTIONS",
        "Esker",
        "Transactions of ESKER that are under way",
        PLUGIN_LICENSE_GPL,
        esker::begin_transactions,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    },
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_LOCKS",
        "Esker",
        "Locks that transactions of ESKER hold",
        PLUGIN_LICENSE_GPL,
        esker::begin_locks,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    },
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_LOCK_WAITS",
        "Esker",
        "Transactions of ESKER that wait for a lock, and whom for",
        PLUGIN_LICENSE_GPL,
        esker::begin_lock_waits,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    },
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_COMPACTIONS",
        "Esker",
        "The last compactions and flushes of ESKER",
        PLUGIN_LICENSE_GPL,
        esker::begin_compactions,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    },
    {
        MYSQL_INFORMATION_SCHEMA_PLUGIN,
        &schema_interface,
        "ESKER_DEADLOCKS",
        "Esker",
        "The last deadlock of ESKER",
        PLUGIN_LICENSE_GPL,
        esker::begin_deadlocks,
        nullptr,
        0x0001,
        nullptr,
        nullptr,
        "0.1",
        MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
    } maria_declare_plugin_end;
