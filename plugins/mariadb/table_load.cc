// Many rows that go into an empty table, as files and not as writes of a transaction.

#include "table_load.h"

#include "ha_esker.h"

namespace esker {

TableLoad::TableLoad(THD *thd, Catalog *catalog, Share *share)
    : catalog_(catalog), share_(share), name_(share->name), before_(share->record), thd_(thd) {}

TableLoad::~TableLoad() {
  guarded([&] {
    end(false);
    return 0;
  });
}

int TableLoad::begin() {
  if (const int error = catalog_->begin_load(before_, &record_, &keyspace_)) return error;
  is_begun_ = true;
  rows_ = std::make_unique<FileSet>(catalog_, record_.number);
  later_ = std::make_unique<SortedLoad>(thd_, catalog_, record_.number);
  entries_ = std::make_unique<SortedLoad>(thd_, catalog_, record_.number);
  before_keyspace_ = share_->keyspace;
  before_counter_ = share_->counter;
  // Rows that snapshots still find are among its entries, however they were deleted.
  uint64_t disk = 0, memory = 0;
  const int code =
      esker_approximate(before_keyspace_, nullptr, 0, nullptr, 0, &disk, &memory, nullptr);
  has_past_ = code || disk + memory;
  share_->record = record_;
  share_->keyspace = keyspace_;
  share_->counter = catalog_->counter(record_);
  share_->counter->follow(*before_counter_);
  return 0;
}

int TableLoad::add_row(std::string_view key, std::string_view value) {
  if (rows_->is_empty() || key > rows_->last_key()) {
    return rows_->put(key, value, 0);
  }
  return key == rows_->last_key() ? HA_ERR_FOUND_DUPP_KEY : later_->add(key, value, 0);
}

int TableLoad::add_entry(std::string_view key, std::string_view value) {
  return entries_->add(key, value, 0);
}

int TableLoad::add_written(esker_tx *transaction) {
  std::string rows;
  append_number(&rows, before_.indexes[0].number, 4);
  esker_iter *iter = nullptr;
  int code = esker_tx_iter_new(transaction, before_keyspace_, nullptr, 0, nullptr, 0, 0, &iter);
  if (!code) code = esker_iter_seek_to_first(iter);
  int error = 0;
  while (!code && !error) {
    esker_bytes key, value;
    code = esker_iter_entry(iter, &key, &value);
    if (code) break;
    const std::string_view entry(static_cast<const char *>(key.data), key.size);
    const std::string_view rest(static_cast<const char *>(value.data), value.size);
    const bool is_row = !entry.compare(0, rows.size(), rows);
    error = is_row ? add_row(entry, rest) : add_entry(entry, rest);
    code = esker_iter_next(iter);
  }
  esker_iter_free(iter);
  return error || code == ESKER_NOT_FOUND ? error : handler_error(code);
}

int TableLoad::note_duplicate(int error, const SortedLoad &load) {
  if (error == HA_ERR_FOUND_DUPP_KEY) {
    duplicate_ = load.duplicate();
    duplicate_value_ = load.duplicate_value();
  }
  return error;
}

// Rows come in before entries, so that the row of an entry that came twice can be told.
int TableLoad::finish(esker_tx *transaction) {
  crash_at("before load");
  if (const int error = rows_->take_in(keyspace_)) return error;
  crash_at("after rows");
  later_->ask([this](std::string_view key) {
    const int found = esker_contains(keyspace_, nullptr, key.data(), key.size(), 0);
    if (found == ESKER_NOT_FOUND) return 0;
    return found ? handler_error(found) : HA_ERR_FOUND_DUPP_KEY;
  });
  int error = note_duplicate(later_->take_in(keyspace_), *later_);
  if (!error) error = note_duplicate(entries_->take_in(keyspace_), *entries_);
  if (error) return error;
  crash_at("after load");
  rows_.reset();
  later_.reset();
  entries_.reset();
  return handler_error(catalog_->put_loaded(transaction, name_, record_, keyspace_));
}

void TableLoad::end(bool is_committed) {
  if (!is_begun_) return;
  is_begun_ = false;
  rows_.reset();
  later_.reset();
  entries_.reset();
  if (share_ && !is_committed) {
    before_counter_->follow(*share_->counter);
    share_->record = before_;
    share_->keyspace = before_keyspace_;
    share_->counter = before_counter_;
  }
  if (is_committed) {
    catalog_->note_loaded(&record_, has_past_);
    if (share_) share_->record.changed = record_.changed;
  }
  // Where nobody has the table open, the share freed its own: the new one.
  if (is_committed || !share_) esker_keyspace_free(before_keyspace_);
  if (!is_committed && share_) esker_keyspace_free(keyspace_);
  const uint32 gone = is_committed ? before_.number : record_.number;
  if (catalog_->end_load(gone)) {
    sql_print_warning("ESKER: what is left of loading %s goes at the next start: %s", name_.c_str(),
                      esker_errmsg());
  }
}

}  // namespace esker
