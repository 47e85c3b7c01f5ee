// Which keyspace and which index numbers a table has.

#include "catalog.h"

#include "events.h"
#include "index_statistics.h"

#include <cstring>
#include <filesystem>
#include <set>

namespace esker {

namespace {

constexpr char kTables = 1;
constexpr char kNext = 2;
constexpr char kCounters = 3;

// Row ids are numbered by the start of the engine and then by a counter, so that no number comes
// twice, and none has to be looked for.
constexpr int kStartShift = 40;

const char *const kCatalogName = "sql.catalog";
const char *const kTablePrefix = "sql.table.";

std::string counter_key(uint32 table) {
  std::string key{kCounters};
  append_number(&key, table, 4);
  return key;
}

}  // namespace

std::string table_key(const std::string &name) { return kTables + name; }

std::string keyspace_name(uint32 table) {
  char text[32];
  snprintf(text, sizeof text, "%s%010u", kTablePrefix, table);
  return text;
}

int handler_error(int code) {
  switch (code) {
    case ESKER_OK: return 0;
    case ESKER_NOT_FOUND: return HA_ERR_KEY_NOT_FOUND;
    case ESKER_TOO_LARGE: return HA_ERR_TO_BIG_ROW;
    case ESKER_CORRUPTION: return HA_ERR_CRASHED;
    case ESKER_OUT_OF_SPACE: return HA_ERR_DISK_FULL;
    case ESKER_LOCK_TIMEOUT: return HA_ERR_LOCK_WAIT_TIMEOUT;
    case ESKER_CONFLICT:
    case ESKER_DEADLOCK: return HA_ERR_LOCK_DEADLOCK;
    case ESKER_INTERRUPTED: return HA_ERR_ABORTED_BY_USER;
    default: return HA_ERR_INTERNAL_ERROR;
  }
}

int Catalog::open(const char *path, const char *memory_limit, Catalog **catalog) {
  *catalog = nullptr;
  esker_builder *builder = nullptr;
  int code = esker_builder_new(path, &builder);
  if (!code) code = esker_builder_set(builder, "memory_limit", memory_limit);
  if (!code) code = events.listen(builder);
  Catalog *made = new Catalog;
  made->loads_ = std::string(path) + "/sql.load";
  if (!code) code = esker_builder_open(builder, &made->db_);
  esker_builder_free(builder);
  if (!code) code = esker_db_keyspace(made->db_, kCatalogName, nullptr, &made->records_);
  if (!code) code = made->start();
  if (!code) code = made->sweep();
  if (code) {
    delete made;
    return code;
  }
  *catalog = made;
  return 0;
}

Catalog::~Catalog() {
  esker_keyspace_free(records_);
  if (db_ && esker_db_close(db_)) sql_print_error("ESKER: closing: %s", esker_errmsg());
  esker_db_free(db_);
}

int Catalog::start() {
  int code = read_next();
  if (code) return code;
  starts_++;
  Batch batch(db_);
  return batch.code ? batch.code : commit_next(batch.it);
}

int Catalog::read_next() {
  esker_value *value = esker_value_new();
  int code = esker_get(records_, nullptr, &kNext, 1, 0, value);
  size_t size = 0;
  const auto *from = static_cast<const uchar *>(esker_value_data(value, &size));
  if (code == ESKER_NOT_FOUND) {
    code = 0;
  } else if (!code && size != 12) {
    code = ESKER_CORRUPTION;
  } else if (!code) {
    next_table_ = static_cast<uint32>(read_number(from, 4));
    next_index_ = static_cast<uint32>(read_number(from + 4, 4));
    starts_ = static_cast<uint32>(read_number(from + 8, 4));
  }
  esker_value_free(value);
  return code;
}

// Writes the batch, with the numbers that are next.
int Catalog::commit_next(esker_batch *batch) {
  std::string next;
  append_number(&next, next_table_, 4);
  append_number(&next, next_index_, 4);
  append_number(&next, starts_, 4);
  const int code = esker_batch_put(batch, records_, &kNext, 1, next.data(), next.size());
  return code ? code : esker_batch_commit(batch, ESKER_SYNC);
}

int Catalog::names(std::vector<std::string> *names) {
  esker_iter *iter = nullptr;
  int code = esker_iter_new(records_, nullptr, &kTables, 1, &kNext, 1, 0, &iter);
  if (!code) code = esker_iter_seek_to_first(iter);
  for (; !code; code = esker_iter_next(iter)) {
    size_t size;
    const char *key = static_cast<const char *>(esker_iter_key(iter, &size));
    names->emplace_back(key + 1, size - 1);
  }
  esker_iter_free(iter);
  return code == ESKER_NOT_FOUND ? 0 : code;
}

// Tables whose definition in the server is gone, as where a directory was put together by hand.
// What begins with #sql is of a change of a table that a crash ended: the server clears that up
// later.
void Catalog::tell_strays(const std::vector<std::string> &tables) {
  for (const std::string &name : tables) {
    const std::string file = name.substr(0, name.find(kPartition)) + reg_ext;
    if (file.find("/#sql") == std::string::npos && access(file.c_str(), F_OK)) {
      sql_print_warning("ESKER: the catalogue has %s, but there is no %s; DROP TABLE takes it away",
                        name.c_str(), file.c_str());
    }
  }
}

int Catalog::sweep() {
  std::error_code ignored;
  std::filesystem::remove_all(loads_, ignored);
  std::vector<std::string> tables;
  int code = names(&tables);
  if (!code) tell_strays(tables);
  std::set<std::string> wanted;
  for (const std::string &name : tables) {
    TableRecord record;
    if (find(name, &record)) return ESKER_CORRUPTION;
    // Temporary tables end with the server that made them.
    uint32 number;
    if (record.is_temporary && forget(name, &number)) return ESKER_IO;
    if (!record.is_temporary) wanted.insert(keyspace_name(record.number));
  }
  if (!code) code = sweep_indexes();
  char **keyspaces = nullptr;
  size_t count = 0;
  if (!code) code = esker_db_keyspaces(db_, &keyspaces, &count);
  for (size_t at = 0; at < count && !code; at++) {
    if (strncmp(keyspaces[at], kTablePrefix, strlen(kTablePrefix))) continue;
    // One that a prepared transaction has writes for stays until a start after its end.
    if (!wanted.count(keyspaces[at]) && esker_db_drop_keyspace(db_, keyspaces[at])) {
      sql_print_warning("ESKER: %s belongs to no table and stays: %s", keyspaces[at],
                        esker_errmsg());
    }
  }
  esker_strings_free(keyspaces, count);
  return code;
}

int Catalog::put_record(esker_batch *batch, const std::string &name, const TableRecord &record) {
  const std::string key = table_key(name), value = record.encode();
  return esker_batch_put(batch, records_, key.data(), key.size(), value.data(), value.size());
}

int Catalog::make_options(const Settings &settings, esker_keyspace_options **options) {
  *options = esker_keyspace_options_new();
  int code = *options ? ESKER_OK : ESKER_PANIC;
  for (const auto &[name, text] : settings) {
    if (!code) code = esker_keyspace_options_set(*options, name.c_str(), text.c_str());
  }
  return code;
}

int Catalog::make_keyspace(uint32 number, const Settings &settings) {
  esker_keyspace_options *options = nullptr;
  int code = make_options(settings, &options);
  const bool is_possible = !code;
  esker_keyspace *keyspace = nullptr;
  if (!code) code = esker_db_keyspace(db_, keyspace_name(number).c_str(), options, &keyspace);
  esker_keyspace_free(keyspace);
  esker_keyspace_options_free(options);
  return is_possible ? handler_error(code) : HA_WRONG_CREATE_OPTION;
}

int Catalog::read_settings(uint32 number, Settings *settings) {
  esker_keyspace *keyspace = nullptr;
  int code = esker_db_existing_keyspace(db_, keyspace_name(number).c_str(), &keyspace);
  char **texts = nullptr;
  size_t count = 0;
  if (!code) code = esker_keyspace_settings(keyspace, &texts, &count);
  for (size_t at = 0; at + 1 < count; at += 2) settings->emplace_back(texts[at], texts[at + 1]);
  esker_strings_free(texts, count);
  esker_keyspace_free(keyspace);
  return handler_error(code);
}

int Catalog::create(const std::string &name, const Wanted &wanted) {
  std::lock_guard<std::mutex> turn(changes_);
  TableRecord record;
  if (!find(name, &record)) return HA_ERR_TABLE_EXIST;
  record = TableRecord();
  record.number = next_table_++;
  record.is_temporary = wanted.is_temporary;
  record.counter = wanted.counter;
  record.indexes.push_back({next_index_++, ""});
  for (const std::string &index : wanted.indexes) record.indexes.push_back({next_index_++, index});
  if (const int error = make_keyspace(record.number, wanted.settings)) return error;
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = put_record(batch.it, name, record);
  if (!code) code = commit_next(batch.it);
  if (!code) note_change(record.number);
  return handler_error(code);
}

int Catalog::find(const std::string &name, TableRecord *record) {
  const std::string key = table_key(name);
  esker_value *value = esker_value_new();
  int error = handler_error(esker_get(records_, nullptr, key.data(), key.size(), 0, value));
  if (error == HA_ERR_KEY_NOT_FOUND) error = HA_ERR_NO_SUCH_TABLE;
  size_t size = 0;
  const auto *from = static_cast<const uchar *>(esker_value_data(value, &size));
  if (!error && !record->decode(from, size)) error = HA_ERR_CRASHED;
  esker_value_free(value);
  if (error) return error;
  std::lock_guard<std::mutex> turn(turn_);
  const auto changed = changed_.find(record->number);
  record->changed = changed == changed_.end() ? 0 : changed->second;
  return 0;
}

int Catalog::open_table(const TableRecord &record, esker_keyspace **keyspace) {
  const int code =
      esker_db_existing_keyspace(db_, keyspace_name(record.number).c_str(), keyspace);
  return code == ESKER_NOT_FOUND ? HA_ERR_CRASHED : handler_error(code);
}

int Catalog::rename(const std::string &from, const std::string &to) {
  std::lock_guard<std::mutex> turn(changes_);
  TableRecord record, other;
  if (const int error = find(from, &record)) return error;
  if (!find(to, &other)) return HA_ERR_TABLE_EXIST;
  const std::string old_key = table_key(from);
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = esker_batch_delete(batch.it, records_, old_key.data(), old_key.size());
  if (!code) code = put_record(batch.it, to, record);
  if (!code) code = esker_batch_commit(batch.it, ESKER_SYNC);
  if (!code) note_change(record.number);
  return handler_error(code);
}

int Catalog::drop_keyspace(uint32 number) {
  return handler_error(esker_db_drop_keyspace(db_, keyspace_name(number).c_str()));
}

int Catalog::forget(const std::string &name, uint32 *number) {
  std::lock_guard<std::mutex> turn(changes_);
  TableRecord record;
  if (const int error = find(name, &record)) return error;
  const std::string key = table_key(name);
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = esker_batch_delete(batch.it, records_, key.data(), key.size());
  if (!code) code = delete_counter(batch.it, record.number);
  if (!code) code = esker_batch_commit(batch.it, ESKER_SYNC);
  if (!code) forget_table(record.number);
  *number = record.number;
  return handler_error(code);
}

int Catalog::truncate(const std::string &name) {
  std::lock_guard<std::mutex> turn(changes_);
  TableRecord record;
  if (const int error = find(name, &record)) return error;
  const uint32 old_number = record.number;
  record.number = next_table_++;
  record.counter = 0;
  record.added.clear();
  Settings settings;
  if (const int error = read_settings(old_number, &settings)) return error;
  if (const int error = make_keyspace(record.number, settings)) return error;
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = put_record(batch.it, name, record);
  if (!code) code = delete_counter(batch.it, old_number);
  if (!code) code = commit_next(batch.it);
  if (!code) forget_table(old_number);
  if (!code) note_change(record.number);
  if (!code) code = esker_db_drop_keyspace(db_, keyspace_name(old_number).c_str());
  return handler_error(code);
}

int Catalog::set_counter(const std::string &name, ulonglong counter) {
  std::lock_guard<std::mutex> turn(changes_);
  TableRecord record;
  if (const int error = find(name, &record)) return error;
  record.counter = counter;
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = put_record(batch.it, name, record);
  if (!code) code = delete_counter(batch.it, record.number);
  if (!code) code = esker_batch_commit(batch.it, ESKER_SYNC);
  return handler_error(code);
}

std::shared_ptr<Counter> Catalog::counter(const TableRecord &record) {
  std::lock_guard<std::mutex> turn(turn_);
  std::shared_ptr<Counter> &counter = counters_[record.number];
  if (!counter) {
    counter = std::make_shared<Counter>(this, record.number,
                                        static_cast<ulonglong>(starts_) << kStartShift,
                                        !record.is_temporary);
  }
  return counter;
}

void Catalog::forget_table(uint32 table) {
  std::lock_guard<std::mutex> turn(turn_);
  counters_.erase(table);
  changed_.erase(table);
}

// After it is done: who began before that is not to see the table.
void Catalog::note_change(uint32 table) {
  std::lock_guard<std::mutex> turn(turn_);
  changed_[table] = ++change_;
}

int Catalog::read_counter(uint32 table, ulonglong *next) {
  *next = 0;
  const std::string key = counter_key(table);
  esker_value *value = esker_value_new();
  const int code = esker_get(records_, nullptr, key.data(), key.size(), 0, value);
  int error = code == ESKER_NOT_FOUND ? 0 : handler_error(code);
  size_t size = 0;
  const auto *from = static_cast<const uchar *>(esker_value_data(value, &size));
  if (!code && size != 8) error = HA_ERR_CRASHED;
  if (!code && !error) *next = read_number(from, 8);
  esker_value_free(value);
  return error;
}

int Catalog::put_counter(uint32 table, ulonglong next) {
  const std::string key = counter_key(table);
  std::string value;
  append_number(&value, next, 8);
  return esker_put(records_, key.data(), key.size(), value.data(), value.size(), ESKER_BUFFERED);
}

// What was sampled of its indexes goes with it.
int Catalog::delete_counter(esker_batch *batch, uint32 table) {
  const std::string key = counter_key(table);
  const int code = esker_batch_delete(batch, records_, key.data(), key.size());
  return code ? code : delete_statistics(batch, records_, table);
}

}  // namespace esker
