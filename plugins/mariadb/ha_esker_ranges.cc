// Multi-range read: rows of many ranges, such as those of an IN list, fetched many at a time.
//
// Three ways lead to rows. Whole keys of the rows themselves are looked up together. Whole keys of
// a unique index are looked up together, and then the rows of what was found. Of other ranges of a
// secondary index the entries are read by a cursor, and then their rows looked up together. In all
// of them rows come in the order of the ranges, and in each range in that of the index, so that an
// order is kept without being asked for.
//
// Not so: what locks its rows, one by one as it comes to them; rows that end by themselves; ranges
// of the rows themselves, which lie side by side; and what an index alone answers, unless by whole
// keys. These go the server's way, a row at a time.

#include "ha_esker.h"

#include <algorithm>
#include <atomic>

using esker::guarded;
using esker::RangeReader;

namespace {

// So many rows are fetched at first, for a statement may want few of what its ranges have, and so
// many at most: from some tens on, more have no more to share.
constexpr size_t kRowsFirst = 16;
constexpr size_t kRowsMax = 128;
// Rows of a batch stay in memory until the next: of large ones, fewer are fetched.
constexpr size_t kBatchBytes = 4 << 20;

std::atomic<ulonglong> batch_count{0}, row_count{0};

}  // namespace

namespace esker {

void count_batch(size_t rows) {
  batch_count.fetch_add(1, std::memory_order_relaxed);
  row_count.fetch_add(rows, std::memory_order_relaxed);
}

ulonglong batches() { return batch_count.load(std::memory_order_relaxed); }
ulonglong batched_rows() { return row_count.load(std::memory_order_relaxed); }

}  // namespace esker

// A BKA join asks by this whether rows can be had by many keys at once.
ha_rows ha_esker::multi_range_read_info(uint index, uint ranges, uint keys, uint parts,
                                        uint *size, uint *mode, Cost_estimate *cost) {
  const uint wanted = *mode;
  const ha_rows rows =
      handler::multi_range_read_info(index, ranges, keys, parts, size, mode, cost);
  const bool is_switched_on = ha_thd()->variables.optimizer_switch & OPTIMIZER_SWITCH_MRR;
  if (is_switched_on && !(wanted & HA_MRR_USE_DEFAULT_IMPL) && can_batch() &&
      !(wanted & HA_MRR_INDEX_ONLY)) {
    *mode &= ~HA_MRR_USE_DEFAULT_IMPL;
  }
  return rows;
}

int ha_esker::multi_range_read_explain_info(uint mode, char *text, size_t room) {
  if (mode & HA_MRR_USE_DEFAULT_IMPL) return 0;
  const std::string_view said = "Rows by many keys at once";
  const size_t length = std::min(said.size(), room);
  memcpy(text, said.data(), length);
  return static_cast<int>(length);
}

int ha_esker::multi_range_read_init(RANGE_SEQ_IF *ranges, void *state, uint count, uint mode,
                                    HANDLER_BUFFER *buffer) {
  const int error = handler::multi_range_read_init(ranges, state, count, mode, buffer);
  is_given_ = false;
  kept_.clear();
  list_ = {};
  list_.state = state;
  list_.count = count;
  list_.mode = mode;
  list_.is_on = can_look_back() && count > 1;
  return error ? error : guarded([&] {
    ranges_.clear();
    const bool may_batch = can_batch() && active_index < MAX_KEY;
    const bool is_wanted = !(mode & HA_MRR_USE_DEFAULT_IMPL) || !is_index_alone() ||
                           table->key_info[active_index].flags & HA_NOSAME;
    ranges_.is_on = may_batch && is_wanted;
    const size_t length = std::max<size_t>(stats.mean_rec_length, 1);
    ranges_.rows_max = std::clamp<size_t>(kBatchBytes / length, 1, kRowsMax);
    ranges_.rows_wanted = std::min(kRowsFirst, ranges_.rows_max);
    return 0;
  });
}

int ha_esker::multi_range_read_next(range_id_t *range) {
  int error;
  if (ranges_.is_on) {
    error = guarded([&] { return next_of_ranges(range); });
    table->status = error ? STATUS_NOT_FOUND : 0;
  } else {
    error = handler::multi_range_read_next(range);
    if (error == HA_ERR_END_OF_FILE && list_.is_on && looks_at_ranges_again()) {
      error = handler::multi_range_read_next(range);
    }
  }
  // Where the server merges indexes it forgets to tell.
  if (error && error != HA_ERR_END_OF_FILE) print_error(error, MYF(0));
  return error;
}

bool ha_esker::can_batch() const { return !is_locking() && !expires_; }

int ha_esker::next_of_ranges(range_id_t *range) {
  for (;;) {
    while (ranges_.at < ranges_.found.size()) {
      const RangeReader::Found &found = ranges_.found[ranges_.at++];
      if (found.is_absent) continue;
      if (mrr_funcs.skip_record && mrr_funcs.skip_record(mrr_iter, found.range, nullptr)) continue;
      *range = found.range;
      return give(found);
    }
    // A range of the rows themselves is read as the server reads it.
    if (ranges_.way == RangeReader::kSideBySide) {
      ranges_.is_pending = false;
      const int error = ranges_.is_in_range ? read_range_next() : read_first_side_by_side();
      ranges_.is_in_range = true;
      *range = mrr_cur_range.ptr;
      if (error != HA_ERR_END_OF_FILE) return error;
      ranges_.end_range();
    }
    if (ranges_.is_at_end) return HA_ERR_END_OF_FILE;
    if (const int error = fetch()) return error;
  }
}

int ha_esker::read_first_side_by_side() {
  const KEY_MULTI_RANGE &range = mrr_cur_range;
  return read_range_first(range.start_key.keypart_map ? &range.start_key : nullptr,
                          range.end_key.keypart_map ? &range.end_key : nullptr,
                          range.range_flag & EQ_RANGE, mrr_is_output_sorted);
}

// What was fetched, as the row that was read last.
int ha_esker::give(const RangeReader::Found &found) {
  row_key_.assign(ranges_.bytes, found.from, found.length);
  if (is_index_alone() && !is_rows(active_index)) {
    const std::string_view entry(ranges_.entries.data() + found.entry_from, found.entry_length);
    const uchar *key = reinterpret_cast<const uchar *>(entry.data());
    if (!keys_[active_index]->cut(key, entry.size(), &starts_)) return HA_ERR_CRASHED;
    if (!keys_[active_index]->restore(key, starts_, table->record[0])) {
      const int error = get_row(table->record[0]);
      if (error) return error == HA_ERR_KEY_NOT_FOUND ? HA_ERR_CRASHED : error;
    }
  } else {
    size_t size = 0;
    const void *row = esker_value_data(ranges_.values[found.value], &size);
    if (const int error = unpack(table->record[0], row, size)) return error;
  }
  update_index_statistics();
  if (table->vfield) table->update_virtual_fields(this, VCOL_UPDATE_FOR_READ);
  return 0;
}

// The next batch of rows, of ranges that go the same way.
int ha_esker::fetch() {
  ranges_.clear_batch();
  if (const int code = session_->take_moment()) return fail(code);
  while (ranges_.found.size() < ranges_.rows_wanted) {
    if (!ranges_.is_in_range && !next_range()) break;
    if (ranges_.way == RangeReader::kSideBySide) return 0;
    const int error = ranges_.way == RangeReader::kScan ? scan_entries() : 0;
    if (error) return error;
    if (ranges_.way != RangeReader::kScan) ranges_.end_range();
  }
  ranges_.rows_wanted = std::min(ranges_.rows_wanted * (kRowsMax / kRowsFirst), ranges_.rows_max);
  if (ranges_.found.empty()) return 0;
  esker::count_batch(ranges_.found.size());
  if (ranges_.batch_way == RangeReader::kEntryKeys) {
    if (const int error = look_up_entries()) return error;
  }
  return is_index_alone() && !is_rows(active_index) ? 0 : look_up_rows();
}

// Takes the next range into `ranges_`. False if there is none, or if it goes another way than the
// batch so far: then it begins the next one.
bool ha_esker::next_range() {
  if (!ranges_.is_pending) {
    if (mrr_funcs.next(mrr_iter, &mrr_cur_range)) {
      ranges_.is_at_end = true;
      ranges_.way = RangeReader::kNone;
      return false;
    }
    describe_range();
  }
  ranges_.is_pending = ranges_.batch_way != RangeReader::kNone &&
                       (ranges_.batch_way != ranges_.way ||
                        ranges_.way == RangeReader::kSideBySide);
  if (ranges_.is_pending) return false;
  ranges_.batch_way = ranges_.way;
  if (ranges_.way == RangeReader::kRowKeys || ranges_.way == RangeReader::kEntryKeys) {
    increment_statistics(&SSV::ha_read_key_count);
    ranges_.add(ranges_.lower, mrr_cur_range.ptr);
  }
  return true;
}

void ha_esker::describe_range() {
  const KEY_MULTI_RANGE &range = mrr_cur_range;
  const bool is_exact =
      bounds_of(active_index, range.start_key.keypart_map ? &range.start_key : nullptr,
                range.end_key.keypart_map ? &range.end_key : nullptr, &ranges_.lower,
                &ranges_.upper) &&
      range.range_flag & EQ_RANGE;
  if (is_rows(active_index)) {
    ranges_.way = is_exact ? RangeReader::kRowKeys : RangeReader::kSideBySide;
  } else {
    ranges_.way = is_exact ? RangeReader::kEntryKeys : RangeReader::kScan;
  }
}

// Where entries of that range begin, and where those beyond it do. Answers whether the lower bound
// is a key that one entry at most has.
bool ha_esker::bounds_of(uint index, const key_range *lower, const key_range *upper,
                         std::string *first, std::string *last) {
  bool is_whole = false, is_upper_whole;
  first->clear();
  codec(index).append_number(first);
  *last = esker::successor(*first);
  if (lower) {
    *first = search_key(index, lower->key, lower->keypart_map, &is_whole);
    if (lower->flag == HA_READ_AFTER_KEY) *first = esker::successor(*first);
  }
  if (upper) {
    *last = search_key(index, upper->key, upper->keypart_map, &is_upper_whole);
    if (upper->flag == HA_READ_AFTER_KEY) *last = esker::successor(*last);
  }
  return is_whole;
}

// Reads entries of the range on, until it ends or the batch is full.
int ha_esker::scan_entries() {
  int code = 0;
  if (!ranges_.is_in_range) {
    increment_statistics(&SSV::ha_read_key_count);
    if (const int error = open_cursor(active_index)) return error;
    code = esker_iter_seek(cursor_, ranges_.lower.data(), ranges_.lower.size());
    ranges_.is_in_range = true;
  } else {
    code = esker_iter_next(cursor_);
  }
  for (; !code; code = esker_iter_next(cursor_)) {
    size_t key_size = 0, size = 0;
    const char *key = static_cast<const char *>(esker_iter_key(cursor_, &key_size));
    if (std::string_view(key, key_size) >= ranges_.upper) break;
    const void *value = nullptr;
    code = esker_iter_value(cursor_, &value, &size);
    if (code) break;
    entry_.assign(key, key_size);
    entry_.append(static_cast<const char *>(value), size);
    if (const int error = add_entry(mrr_cur_range.ptr)) return error;
    if (ranges_.found.size() >= ranges_.rows_wanted) return 0;
  }
  if (code && code != ESKER_NOT_FOUND) return fail(code);
  ranges_.end_range();
  return 0;
}

// The row that `entry_` stands for, unless a condition passes over it.
int ha_esker::add_entry(range_id_t range) {
  bool is_wanted = false;
  if (const int error = row_of_entry(range, &is_wanted)) return error;
  if (!is_wanted) return 0;
  increment_statistics(&SSV::ha_read_next_count);
  keep_entry(range);
  return 0;
}

void ha_esker::keep_entry(range_id_t range) {
  ranges_.add(row_key_, range);
  if (!is_index_alone()) return;
  ranges_.found.back().entry_from = ranges_.entries.size();
  ranges_.found.back().entry_length = entry_.size();
  ranges_.entries += entry_;
}

int ha_esker::row_of_entry(range_id_t range, bool *is_wanted) {
  *is_wanted = false;
  const esker::KeyCodec &keys = *keys_[active_index];
  const uchar *entry = reinterpret_cast<const uchar *>(entry_.data());
  row_key_.clear();
  if (!keys.cut(entry, entry_.size(), &starts_) ||
      !keys.append_primary(*row_keys_, entry, starts_, &row_key_)) {
    return HA_ERR_CRASHED;
  }
  Fate fate = kTaken;
  if (has_condition()) {
    if (const int error = check_condition(&fate)) return error;
  } else if (thd_kill_level(ha_thd())) {
    return HA_ERR_ABORTED_BY_USER;
  }
  if (fate != kTaken) return 0;
  // What a BKA join asks of an entry, which may concern columns of the tables before.
  if (mrr_funcs.skip_index_tuple) {
    if (!has_condition()) {
      if (const int error = show_entry()) return error;
    }
    if (mrr_funcs.skip_index_tuple(mrr_iter, range)) return 0;
  }
  *is_wanted = true;
  return 0;
}

// The entries of the keys of the batch, which then has the rows that they stand for.
int ha_esker::look_up_entries() {
  if (const int error = look_up(&RangeReader::entry_values)) return error;
  RangeReader::Batch keys;
  keys.swap(ranges_.found);
  const std::string bytes = std::move(ranges_.bytes);
  ranges_.bytes.clear();
  for (const RangeReader::Found &key : keys) {
    size_t size = 0;
    const char *rest =
        static_cast<const char *>(esker_value_data(ranges_.entry_values[key.value], &size));
    if (!rest) continue;
    entry_.assign(bytes, key.from, key.length);
    entry_.append(rest, size);
    bool is_wanted = false;
    if (const int error = row_of_entry(key.range, &is_wanted)) return error;
    if (is_wanted) keep_entry(key.range);
  }
  return 0;
}

int ha_esker::look_up_rows() {
  if (const int error = look_up(&RangeReader::values)) return error;
  for (RangeReader::Found &found : ranges_.found) {
    if (esker_value_data(ranges_.values[found.value], nullptr)) continue;
    // An entry has its row.
    if (ranges_.batch_way != RangeReader::kRowKeys) return HA_ERR_CRASHED;
    found.is_absent = true;
  }
  return 0;
}

// Finds all keys of the batch.
int ha_esker::look_up(RangeReader::Values RangeReader::*into) {
  RangeReader::Values &values = ranges_.*into;
  const size_t count = ranges_.found.size();
  while (values.size() < count) values.push_back(esker_value_new());
  std::vector<esker_bytes> keys;
  keys.reserve(count);
  for (RangeReader::Found &found : ranges_.found) {
    found.value = keys.size();
    keys.push_back({ranges_.bytes.data() + found.from, found.length});
  }
  const int code = esker_tx_multi_get(transaction(), share_->keyspace, keys.data(), count, 0,
                                      values.data());
  return code ? fail(code) : 0;
}
