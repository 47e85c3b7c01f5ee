// How the catalogue follows an ALTER that does not copy its table, and loads of many rows.

#include "catalog.h"

#include <filesystem>

namespace esker {

namespace {

constexpr char kBuilding = 4;
constexpr char kAfterBuilding = 5;

std::string mark_key(uint32 index) {
  std::string key{kBuilding};
  append_number(&key, index, 4);
  return key;
}

// All keys of an index.
struct IndexRange {
  explicit IndexRange(uint32 index) {
    append_number(&lower, index, 4);
    append_number(&upper, index + 1ULL, 4);
  }
  std::string lower, upper;
};

int delete_index(esker_batch *batch, const esker_keyspace *keyspace, uint32 index) {
  const IndexRange range(index);
  return esker_batch_delete_range(batch, keyspace, range.lower.data(), range.lower.size(),
                                  range.upper.data(), range.upper.size());
}

// Handles that are freed with their owner.
struct Keyspaces {
  ~Keyspaces() {
    for (esker_keyspace *keyspace : all) esker_keyspace_free(keyspace);
  }
  std::vector<esker_keyspace *> all;
};

}  // namespace

std::string Catalog::load_directory() {
  std::error_code ignored;
  std::filesystem::create_directory(loads_, ignored);
  return loads_ + "/" + std::to_string(++load_);
}

int Catalog::file_options(uint32 table, esker_keyspace_options **options) {
  Settings settings;
  *options = nullptr;
  if (read_settings(table, &settings)) return ESKER_OTHER;
  return make_options(settings, options);
}

int Catalog::number_indexes(uint32 table, size_t count, std::vector<uint32> *numbers) {
  std::lock_guard<std::mutex> turn(changes_);
  Batch batch(db_);
  int code = batch.code;
  std::string value;
  append_number(&value, table, 4);
  for (; numbers->size() < count && !code; numbers->push_back(next_index_++)) {
    const std::string key = mark_key(next_index_);
    code = esker_batch_put(batch.it, records_, key.data(), key.size(), value.data(), value.size());
  }
  if (!code) code = commit_next(batch.it);
  return handler_error(code);
}

int Catalog::clear_index(uint32 table, uint32 index) {
  std::lock_guard<std::mutex> turn(changes_);
  Keyspaces keyspaces;
  esker_keyspace *keyspace = nullptr;
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = esker_db_existing_keyspace(db_, keyspace_name(table).c_str(), &keyspace);
  keyspaces.all.push_back(keyspace);
  if (!code) code = delete_index(batch.it, keyspace, index);
  // The table may be gone, and all its entries with it.
  if (code == ESKER_NOT_FOUND) code = ESKER_OK;
  const std::string key = mark_key(index);
  if (!code) code = esker_batch_delete(batch.it, records_, key.data(), key.size());
  if (!code) code = esker_batch_commit(batch.it, ESKER_SYNC);
  return handler_error(code);
}

// A crash left them, before an ALTER was through.
int Catalog::sweep_indexes() {
  std::vector<std::pair<uint32, uint32>> marks;
  esker_iter *iter = nullptr;
  int code = esker_iter_new(records_, nullptr, &kBuilding, 1, &kAfterBuilding, 1, 0, &iter);
  if (!code) code = esker_iter_seek_to_first(iter);
  for (; !code; code = esker_iter_next(iter)) {
    esker_bytes key, value;
    code = esker_iter_entry(iter, &key, &value);
    if (code) break;
    if (key.size != 5 || value.size != 4) code = ESKER_CORRUPTION;
    if (code) break;
    marks.emplace_back(read_number(static_cast<const uchar *>(value.data), 4),
                       read_number(static_cast<const uchar *>(key.data) + 1, 4));
  }
  esker_iter_free(iter);
  if (code != ESKER_NOT_FOUND) return code;
  for (const auto &[table, index] : marks) {
    if (clear_index(table, index)) return ESKER_IO;
  }
  return ESKER_OK;
}

int Catalog::alter(const std::vector<Altered> &tables) {
  std::lock_guard<std::mutex> turn(changes_);
  Keyspaces keyspaces;
  Batch batch(db_);
  int code = batch.code;
  for (const Altered &table : tables) {
    if (!code) code = put_record(batch.it, table.name, table.record);
    if (!code && table.resets_counter) code = delete_counter(batch.it, table.record.number);
    for (const uint32 index : table.built) {
      const std::string key = mark_key(index);
      if (!code) code = esker_batch_delete(batch.it, records_, key.data(), key.size());
    }
    if (code || table.dropped.empty()) continue;
    esker_keyspace *keyspace = nullptr;
    if (const int error = open_table(table.record, &keyspace)) return error;
    keyspaces.all.push_back(keyspace);
    for (const uint32 index : table.dropped) {
      if (!code) code = delete_index(batch.it, keyspace, index);
    }
  }
  crash_at("before alter");
  if (!code) code = esker_batch_commit(batch.it, ESKER_SYNC);
  crash_at("after alter");
  for (const Altered &table : tables) {
    if (!code && !table.built.empty()) note_change(table.record.number);
  }
  return handler_error(code);
}

int Catalog::begin_load(const TableRecord &before, TableRecord *record,
                        esker_keyspace **keyspace) {
  std::lock_guard<std::mutex> turn(changes_);
  *record = before;
  record->number = next_table_++;
  record->added.clear();
  Settings settings;
  if (const int error = read_settings(before.number, &settings)) return error;
  if (const int error = make_keyspace(record->number, settings)) return error;
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = commit_next(batch.it);
  return code ? handler_error(code) : open_table(*record, keyspace);
}

// The deletion of nothing keeps the keyspace from the sweep of a start, as long as the transaction
// is prepared.
int Catalog::put_loaded(esker_tx *transaction, const std::string &name, const TableRecord &record,
                        const esker_keyspace *keyspace) {
  const std::string key = table_key(name), value = record.encode();
  const int code = esker_tx_put(transaction, records_, key.data(), key.size(), value.data(),
                                value.size());
  return code ? code : esker_tx_delete(transaction, keyspace, nullptr, 0);
}

void Catalog::note_loaded(TableRecord *record, bool has_past) {
  std::lock_guard<std::mutex> turn(turn_);
  if (has_past) record->changed = ++change_;
  if (record->changed) changed_[record->number] = record->changed;
}

int Catalog::end_load(uint32 number) {
  std::lock_guard<std::mutex> turn(changes_);
  Batch batch(db_);
  int code = batch.code;
  if (!code) code = delete_counter(batch.it, number);
  if (!code) code = esker_batch_commit(batch.it, ESKER_BUFFERED);
  forget_table(number);
  const int dropped = esker_db_drop_keyspace(db_, keyspace_name(number).c_str());
  return code ? code : dropped;
}

bool Catalog::has_definition(const std::string &name, const std::string &definition) {
  std::vector<std::string> tables;
  if (names(&tables)) return false;
  bool is_found = false;
  const std::string partition = name + kPartition;
  for (const std::string &table : tables) {
    if (table != name && table.compare(0, partition.size(), partition)) continue;
    TableRecord record;
    if (find(table, &record) || record.definition != definition) return false;
    is_found = true;
  }
  return is_found;
}

}  // namespace esker
