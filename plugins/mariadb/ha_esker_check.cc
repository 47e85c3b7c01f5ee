// CHECK TABLE: what a table is at one moment is read, and its parts are held against each other.
//
// One pass over the keyspace meets the rows first, whose index has the lowest number, and then the
// entries of each index. Every row's entry is looked up in each index. Entries of different rows
// differ, so an index that has as many entries as were found so has no others; only where it has
// more, or where rows end by themselves and nothing can be counted, are its entries followed to
// their rows. What is read from a file is held against its checksum by the store; what lies in the
// cache was, when it came there.
//
// QUICK reads no row and compares numbers of entries; EXTENDED reads all files of the engine first.

#include "ha_esker.h"

#include <algorithm>
#include <chrono>

using esker::guarded;
using esker::KeyCodec;

namespace {

// As many faults as are told one by one; the others are counted.
constexpr ulonglong kToldMax = 10;
// Of a key that is told. Keys may have 3 KiB, and a message 512 bytes.
constexpr size_t kShownBytesMax = 64;
// A row and its entries are written one after the other, each with its own end: of those that are
// so near to it some may be gone where others are still there.
constexpr uint64_t kEndsWithinMs = 10000;

const uchar *bytes(std::string_view text) { return reinterpret_cast<const uchar *>(text.data()); }

// As the tool of the store takes it with --hex.
std::string shown(std::string_view key) {
  std::string out;
  for (const char byte : key.substr(0, kShownBytesMax)) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", static_cast<uchar>(byte));
    out += digits;
  }
  return key.size() > kShownBytesMax ? out + "..." : out;
}

bool ends_soon(uint64_t unix_ms) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return unix_ms && unix_ms <= static_cast<uint64_t>(now_ms) + kEndsWithinMs;
}

}  // namespace

class ha_esker::Check {
 public:
  Check(ha_esker &it, THD *thd, uint flags)
      : it_(it), thd_(thd), is_quick_(flags & T_QUICK), is_extended_(flags & T_EXTEND),
        entries_(it.keys_.size()), found_(it.keys_.size()) {}

  // An answer of the server's to CHECK TABLE.
  int run();

 private:
  // These answer a code of esker/c.h; of what they found wrong they tell.
  int read_all();
  int take(esker_iter *iter);
  int take_row(esker_iter *iter, std::string_view key);
  int take_entry(esker_iter *iter, uint index, std::string_view key);
  int find_entries(esker_iter *iter, const std::string &row_key);
  int follow_entries(uint index);
  int follow_entry(esker_iter *iter, uint index);

  void note_numbers(std::string_view row_key);
  void check_counts(uint index);
  void check_numbers();
  void tell(std::string what);
  void tell_entry(uint index, std::string_view key, const char *what);

  bool is_partition() const {
    return it_.share_->name.find(esker::kPartition) != std::string::npos;
  }
  bool has_keys() const { return it_.table->s->primary_key != MAX_KEY; }
  uchar *record() { return it_.scratch_.data(); }
  const char *name_of(uint index) const { return it_.table->s->key_info[index].name.str; }
  int get(const std::string &key) {
    return esker_tx_get(it_.transaction(), it_.share_->keyspace, key.data(), key.size(), 0,
                        it_.probe_);
  }

  ha_esker &it_;
  THD *thd_;
  const bool is_quick_;
  const bool is_extended_;
  ulonglong rows_ = 0;
  std::vector<ulonglong> entries_;  // that each index has
  std::vector<ulonglong> found_;    // rows whose entry it has
  ulonglong last_row_id_ = 0;
  ulonglong last_counter_ = 0;
  ulonglong faults_ = 0;
};

int ha_esker::check(THD *thd, HA_CHECK_OPT *options) {
  const auto body = [&] { return Check(*this, thd, options->flags).run(); };
  const int answer = guarded(body, HA_ADMIN_FAILED);
  // The record that it used has BLOBs in what was looked up.
  esker_value_clear(probe_);
  return answer;
}

int ha_esker::Check::run() {
  int code = ESKER_OK;
  if (is_extended_ && it_.session_->begins_check(thd_)) {
    code = esker_db_verify(esker::catalog->db());
  }
  if (!code) code = it_.session_->take_moment();
  if (!code) code = read_all();
  for (uint index = 0; index < entries_.size() && !code; index++) {
    if (it_.is_rows(index)) continue;
    const bool is_followed = it_.expires_ || entries_[index] != found_[index];
    if (is_quick_) {
      check_counts(index);
    } else if (is_followed) {
      code = follow_entries(index);
    }
  }
  if (code == ESKER_CORRUPTION) {
    tell(esker_errmsg());
  } else if (code == ESKER_INTERRUPTED) {
    return HA_ADMIN_FAILED;
  } else if (code) {
    push_warning_printf(thd_, Sql_condition::WARN_LEVEL_WARN, ER_CHECK_NO_SUCH_TABLE,
                        "ESKER: %s", esker_errmsg());
    return HA_ADMIN_FAILED;
  } else if (!is_quick_) {
    check_numbers();
  }
  if (faults_ > kToldMax) {
    push_warning_printf(thd_, Sql_condition::WARN_LEVEL_WARN, ER_NOT_KEYFILE,
                        "ESKER: and %llu more", faults_ - kToldMax);
  }
  return faults_ ? HA_ADMIN_CORRUPT : HA_ADMIN_OK;
}

int ha_esker::Check::read_all() {
  esker_iter *iter = nullptr;
  int code = esker_tx_iter_new(it_.transaction(), it_.share_->keyspace, nullptr, 0, nullptr, 0,
                               ESKER_NO_FILL_CACHE, &iter);
  if (!code) code = esker_iter_seek_to_first(iter);
  while (!code) {
    code = thd_kill_level(thd_) ? ESKER_INTERRUPTED : take(iter);
    if (!code) code = esker_iter_next(iter);
  }
  esker_iter_free(iter);
  return code == ESKER_NOT_FOUND ? ESKER_OK : code;
}

int ha_esker::Check::take(esker_iter *iter) {
  size_t size = 0;
  const auto *at = static_cast<const char *>(esker_iter_key(iter, &size));
  const std::string_view key(at, size);
  const auto is_of = [&](const KeyCodec &keys) {
    std::string number;
    keys.append_number(&number);
    return key.substr(0, KeyCodec::kIndexBytes) == number;
  };
  if (is_of(*it_.row_keys_)) return take_row(iter, key);
  for (uint index = 0; index < it_.keys_.size(); index++) {
    if (!it_.is_rows(index) && is_of(*it_.keys_[index])) return take_entry(iter, index, key);
  }
  tell("the entry " + shown(key) + " is of no index of the table");
  return ESKER_OK;
}

int ha_esker::Check::take_row(esker_iter *iter, std::string_view key) {
  rows_++;
  if (!it_.row_keys_->cut(bytes(key), key.size(), &it_.starts_)) {
    tell("the row " + shown(key) + " has a key that is none");
    return ESKER_OK;
  }
  if (is_quick_) return ESKER_OK;
  const void *row = nullptr;
  size_t size = 0;
  if (const int code = esker_iter_value(iter, &row, &size)) return code;
  if (!it_.rows_->unpack(static_cast<const uchar *>(row), size, record())) {
    tell("the row " + shown(key) + " is not what was written");
    return ESKER_OK;
  }
  const std::string row_key(key);
  if (has_keys() && it_.row_key_of(record()) != row_key) {
    tell("the row " + shown(key) + " has the columns of another key");
    return ESKER_OK;
  }
  note_numbers(key);
  return find_entries(iter, row_key);
}

// Of the row in the record.
int ha_esker::Check::find_entries(esker_iter *iter, const std::string &row_key) {
  for (uint index = 0; index < it_.keys_.size(); index++) {
    if (it_.is_rows(index)) continue;
    std::string key, value;
    it_.split_entry(index, record(), row_key, &key, &value);
    const int code = get(key);
    if (code && code != ESKER_NOT_FOUND) return code;
    size_t size = 0;
    const auto *at = static_cast<const char *>(esker_value_data(it_.probe_, &size));
    if (!code && std::string_view(at, size) == value) {
      found_[index]++;
      continue;
    }
    uint64_t end = 0;
    if (const int failure = esker_iter_expiry(iter, &end)) return failure;
    if (it_.expires_ && code && ends_soon(end)) continue;
    const char *what = code ? "has no entry for the row" : "has the entry of another for the row";
    tell_entry(index, row_key, what);
  }
  return ESKER_OK;
}

int ha_esker::Check::take_entry(esker_iter *iter, uint index, std::string_view key) {
  entries_[index]++;
  const void *value = nullptr;
  size_t size = 0;
  if (const int code = esker_iter_value(iter, &value, &size)) return code;
  std::string entry(key);
  entry.append(static_cast<const char *>(value), size);
  if (!it_.keys_[index]->cut(bytes(entry), entry.size(), &it_.starts_)) {
    tell_entry(index, key, "has an entry that is none:");
  }
  return ESKER_OK;
}

int ha_esker::Check::follow_entries(uint index) {
  std::string lower;
  it_.codec(index).append_number(&lower);
  const std::string upper = esker::successor(lower);
  esker_iter *iter = nullptr;
  int code = esker_tx_iter_new(it_.transaction(), it_.share_->keyspace, lower.data(), lower.size(),
                               upper.data(), upper.size(), ESKER_NO_FILL_CACHE, &iter);
  if (!code) code = esker_iter_seek_to_first(iter);
  while (!code) {
    code = thd_kill_level(thd_) ? ESKER_INTERRUPTED : follow_entry(iter, index);
    if (!code) code = esker_iter_next(iter);
  }
  esker_iter_free(iter);
  return code == ESKER_NOT_FOUND ? ESKER_OK : code;
}

// What cannot be cut, and rows that are not what was written, were told.
int ha_esker::Check::follow_entry(esker_iter *iter, uint index) {
  size_t key_size = 0, size = 0;
  const auto *at = static_cast<const char *>(esker_iter_key(iter, &key_size));
  const std::string_view key(at, key_size);
  const void *from = nullptr;
  if (const int code = esker_iter_value(iter, &from, &size)) return code;
  std::string entry(key), row_key;
  entry.append(static_cast<const char *>(from), size);
  const KeyCodec &keys = *it_.keys_[index];
  if (!keys.cut(bytes(entry), entry.size(), &it_.starts_) ||
      !keys.append_primary(*it_.row_keys_, bytes(entry), it_.starts_, &row_key)) {
    return ESKER_OK;
  }
  const int code = get(row_key);
  if (code == ESKER_NOT_FOUND) {
    uint64_t end = 0;
    if (const int failure = esker_iter_expiry(iter, &end)) return failure;
    if (!it_.expires_ || !ends_soon(end)) tell_entry(index, key, "has an entry without a row:");
    return ESKER_OK;
  }
  if (code) return code;
  const void *row = esker_value_data(it_.probe_, &size);
  if (!it_.rows_->unpack(static_cast<const uchar *>(row), size, record())) return ESKER_OK;
  std::string wanted, value;
  it_.split_entry(index, record(), row_key, &wanted, &value);
  if (wanted + value != entry) tell_entry(index, key, "has an entry that its row has not:");
  return ESKER_OK;
}

void ha_esker::Check::check_counts(uint index) {
  if (it_.expires_ || entries_[index] == rows_) return;
  tell(std::string("index '") + name_of(index) + "' has " + std::to_string(entries_[index]) +
       " entries, and the table " + std::to_string(rows_) + " rows");
}

// The largest numbers that the table has given, by the rows that there are.
void ha_esker::Check::note_numbers(std::string_view row_key) {
  if (!has_keys()) {
    last_row_id_ = std::max(last_row_id_, esker::row_id_in(row_key));
  }
  Field *field = it_.table->found_next_number_field;
  if (!field || it_.table->s->next_number_keypart) return;
  const ptrdiff_t offset = record() - it_.table->record[0];
  field->move_field_offset(offset);
  const longlong number = field->val_int();
  field->move_field_offset(-offset);
  if (number <= 0 && !(field->flags & UNSIGNED_FLAG)) return;
  last_counter_ = std::max(last_counter_, static_cast<ulonglong>(number));
}

// A plain UPDATE leaves the counter alone, so one that is behind is no fault, but the next INSERT
// may find its value taken. The partitions of a table have one in common, which the server keeps.
void ha_esker::Check::check_numbers() {
  const ulonglong last_given = it_.share_->counter->last_row_id();
  if (last_row_id_ > last_given) {
    tell("a row has the number " + std::to_string(last_row_id_) + ", and the last one given is " +
         std::to_string(last_given));
  }
  if (!last_counter_ || is_partition()) return;
  if (it_.prepare_counter()) {
    tell("the value of AUTO_INCREMENT that comes next cannot be found");
    return;
  }
  const ulonglong next = it_.share_->counter->next();
  if (next > last_counter_ || next == ULONGLONG_MAX) return;
  push_warning_printf(thd_, Sql_condition::WARN_LEVEL_WARN, ER_NOT_KEYFILE,
                      "ESKER: the next value of AUTO_INCREMENT is %llu, and the largest that is "
                      "there %llu",
                      next, last_counter_);
}

void ha_esker::Check::tell_entry(uint index, std::string_view key, const char *what) {
  tell(std::string("index '") + name_of(index) + "' " + what + " " + shown(key));
}

void ha_esker::Check::tell(std::string what) {
  if (++faults_ > kToldMax) return;
  // What the store tells of files may have several lines.
  std::replace(what.begin(), what.end(), '\n', ' ');
  sql_print_error("ESKER: CHECK TABLE of %s: %s", it_.share_->name.c_str(), what.c_str());
  push_warning_printf(thd_, Sql_condition::WARN_LEVEL_WARN, ER_NOT_KEYFILE, "ESKER: %s",
                      what.c_str());
}
