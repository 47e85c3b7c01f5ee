// How rows are found: by a whole key with one lookup, in all other ways with a cursor.
//
// A row that is read to be written, FOR UPDATE or LOCK IN SHARE MODE is locked and then read again.
// Under READ COMMITTED that is as it is now, and it may have changed since its index entry was
// read: an entry that is no longer that of its row is passed over. What became of it may lie where
// the search has been: ha_esker_moved.cc looks for that.

#include "ha_esker.h"

using esker::guarded;
using esker::KeyCodec;

namespace {

constexpr size_t kPlaceLengthBytes = 2;

const char *chars(const void *bytes) { return static_cast<const char *>(bytes); }
const uchar *bytes(const std::string &text) {
  return reinterpret_cast<const uchar *>(text.data());
}

}  // namespace

// To the last entry before `bound`.
int ha_esker::seek_before(esker_iter *iter, const std::string &bound) {
  const int code = esker_iter_seek_for_prev(iter, bound.data(), bound.size());
  size_t size = 0;
  const char *key = chars(esker_iter_key(iter, &size));
  const bool is_at = !code && size == bound.size() && !memcmp(key, bound.data(), size);
  return is_at ? esker_iter_prev(iter) : code;
}

// The bytes that entries begin with which have these first parts. `is_whole`: there is at most one.
std::string ha_esker::search_key(uint index, const uchar *key, key_part_map parts,
                                 bool *is_whole) {
  KEY *info = &table->key_info[index];
  uint count = 0;
  while (count < table->actual_n_key_parts(info) && parts & 1) {
    count++;
    parts >>= 1;
  }
  const key_part_map wanted = count < 64 ? (1ULL << count) - 1 : ~0ULL;
  key_restore(scratch_.data(), key, info, calculate_key_len(table, index, key, wanted));
  const KeyCodec &keys = codec(index);
  std::string out;
  keys.append_number(&out);
  keys.append(scratch_.data(), 0, 0, count, &out);
  *is_whole = count == keys.user_parts() && keys.is_whole(scratch_.data());
  return out;
}

// Who locks under READ COMMITTED looks for rows as they are now, whatever the statement reads else.
uint32 ha_esker::read_flags() const {
  return is_locking() && session_->reads_latest() ? ESKER_LATEST : 0;
}

int ha_esker::open_cursor(uint index) {
  if (cursor_ && cursor_index_ == index && cursor_writes_ == session_->writes()) return 0;
  close_cursor();
  const int code = new_cursor(index);
  return code ? fail(code) : 0;
}

// What all entries of an index begin with.
std::string ha_esker::first_key(uint index) const {
  std::string key;
  codec(index).append_number(&key);
  return key;
}

// Answers a code of esker/c.h.
int ha_esker::new_cursor(uint index) {
  const std::string lower = first_key(index);
  const std::string upper = esker::successor(lower);
  int code = is_locking() ? ESKER_OK : session_->take_moment();
  if (!code) {
    code = esker_tx_iter_new(transaction(), share_->keyspace, lower.data(), lower.size(),
                             upper.data(), upper.size(), read_flags(), &cursor_);
  }
  cursor_index_ = index;
  cursor_writes_ = session_->writes();
  return code;
}

void ha_esker::close_cursor() {
  esker_iter_free(cursor_);
  cursor_ = nullptr;
}

// A statement begins: HANDLER goes on from where it was, among the rows that it may see now.
void ha_esker::leave_cursor() {
  if (!cursor_) return;
  size_t size = 0;
  const char *key = chars(esker_iter_key(cursor_, &size));
  place_.assign(key ? key : "", size);
  close_cursor();
}

int ha_esker::unpack(uchar *record, const void *row, size_t length) {
  if (rows_->unpack(static_cast<const uchar *>(row), length, record)) return 0;
  sql_print_error("ESKER: a row of %s is not what was written", share_->name.c_str());
  return HA_ERR_CRASHED;
}

// The row of an entry of a secondary index, whose key and value are in `entry_`.
int ha_esker::take_entry(uchar *record, Fate *fate) {
  const KeyCodec &keys = *keys_[active_index];
  row_key_.clear();
  if (!keys.cut(bytes(entry_), entry_.size(), &starts_) ||
      !keys.append_primary(*row_keys_, bytes(entry_), starts_, &row_key_)) {
    return HA_ERR_CRASHED;
  }
  // Before its row is read, and locked.
  if (has_condition()) {
    const int error = check_condition(fate);
    // The lock of the row before is no affair of this one.
    if (error || *fate == kPassed) forget_lock();
    if (error || *fate == kPassed) return error;
  }
  const bool may_change = is_locking() || expires_;
  if (is_index_alone() && !may_change && keys.restore(bytes(entry_), starts_, record)) return 0;
  const int error = get_row(record);
  moved_to_.clear();
  if (error == HA_ERR_KEY_NOT_FOUND) {
    if (!may_change) return HA_ERR_CRASHED;
    // Who deleted it may have moved others.
    *fate = kMoved;
    return 0;
  }
  if (error || !may_change) return error;
  std::string value;
  split_entry(active_index, record, row_key_, &moved_to_, &value);
  if (moved_to_ + value != entry_) *fate = kMoved;
  return 0;
}

// What the cursor is at.
int ha_esker::take_here(uchar *record, Fate *fate) {
  size_t key_size = 0, size = 0;
  const char *key = chars(esker_iter_key(cursor_, &key_size));
  const void *value = nullptr;
  if (!is_rows(cursor_index_)) {
    if (const int code = esker_iter_value(cursor_, &value, &size)) return fail(code);
    entry_.assign(key, key_size);
    entry_.append(chars(value), size);
    return take_entry(record, fate);
  }
  row_key_.assign(key, key_size);
  if (is_locking()) {
    const int error = get_row(record);
    if (error != HA_ERR_KEY_NOT_FOUND) return error;
    // The name of a row that has no key never changes.
    *fate = table->s->primary_key == MAX_KEY ? kGone : kMoved;
    moved_to_.clear();
    return 0;
  }
  // BLOBs are not copied: the value has to stay until the next read.
  if (table->s->blob_fields) {
    if (const int code = esker_iter_value_pinned(cursor_, found_)) return fail(code);
    value = esker_value_data(found_, &size);
  } else if (const int code = esker_iter_value(cursor_, &value, &size)) {
    return fail(code);
  }
  return unpack(record, value, size);
}

// Whether the cursor is at an entry that the search is not for: an error that says so, or 0.
int ha_esker::end_here(bool is_forward) const {
  size_t size = 0;
  const char *at = chars(esker_iter_key(cursor_, &size));
  const std::string_view key(at, size);
  if (key.substr(0, must_begin_.size()) != must_begin_) return HA_ERR_KEY_NOT_FOUND;
  // What is beyond the range is neither read nor locked.
  if (is_forward && !bound_.empty() && key >= bound_) return HA_ERR_END_OF_FILE;
  return is_second_ && key >= moved_from_ ? HA_ERR_END_OF_FILE : 0;
}

// What a move of the cursor came to, or the next entry in that direction that still has its row.
int ha_esker::take(int code, uchar *record, bool is_forward) {
  is_given_ = false;
  for (;;) {
    if (code && code != ESKER_NOT_FOUND) return fail(code);
    if (const int end = code ? HA_ERR_END_OF_FILE : end_here(is_forward)) {
      if (!looks_again()) return end;
      code = seek_back(begun_at_);
      continue;
    }
    Fate fate = kTaken;
    const int error = take_here(record, &fate);
    const bool is_skipped = skips_locked_ && error == HA_ERR_LOCK_WAIT_TIMEOUT;
    if ((error || fate == kTaken) && !is_skipped && !was_given(error)) {
      is_given_ = !error;
      return error;
    }
    const bool is_gone = fate == kGone || fate == kMoved;
    bool is_awaited = false;
    if (const int failure = is_gone ? check_gone(&is_awaited) : 0) return failure;
    if (is_awaited) continue;
    const std::string back_to = fate == kMoved ? note_moved(is_forward) : std::string();
    if (is_gone) give_back_lock();
    if (thd_kill_level(ha_thd())) return HA_ERR_ABORTED_BY_USER;
    if (!back_to.empty()) {
      if (begin_ranges_anew()) return HA_ERR_END_OF_FILE;
      code = seek_back(back_to);
    } else if (is_gone && notes_locks_ && !expires_) {
      code = seek_anew(is_forward);
    } else {
      code = is_forward ? esker_iter_next(cursor_) : esker_iter_prev(cursor_);
    }
  }
}

// On from where the cursor is, among the entries that there are by now: a row that was changed
// while its lock was waited for may have its new entry ahead.
int ha_esker::seek_anew(bool is_forward) {
  size_t size = 0;
  const char *key = chars(esker_iter_key(cursor_, &size));
  const std::string here(key, size);
  close_cursor();
  if (const int code = new_cursor(cursor_index_)) return code;
  return is_forward ? esker_iter_seek(cursor_, here.data(), here.size())
                    : esker_iter_seek_for_prev(cursor_, here.data(), here.size());
}

// Finds `key` in a secondary index. A code of esker/c.h.
int ha_esker::probe(const std::string &key) {
  int code = is_locking() ? ESKER_OK : session_->take_moment();
  if (!code) {
    code = esker_tx_get(transaction(), share_->keyspace, key.data(), key.size(), read_flags(),
                        probe_);
  }
  if (code != ESKER_NOT_FOUND || !is_locking() || session_->reads_latest()) return code;
  // What others put there since the snapshot can no more be written to than a row of theirs.
  code = esker_tx_get(transaction(), share_->keyspace, key.data(), key.size(), ESKER_LATEST,
                      probe_);
  return code == ESKER_OK ? ESKER_CONFLICT : code;
}

// By a key that one entry at most has. While the lock of its row was waited for, the key may have
// come to another row: then it is that one's turn.
int ha_esker::read_exact(uchar *record, const std::string &key) {
  close_cursor();
  begin_search(key);
  if (begun_at_ != key) return HA_ERR_KEY_NOT_FOUND;
  begun_at_.clear();
  place_ = key;
  cursor_index_ = active_index;
  if (is_rows(active_index)) {
    row_key_ = key;
    is_unlocked_ = looks_first_;
    const int error = get_row(record);
    is_given_ = !error;
    return was_given(error) ? HA_ERR_KEY_NOT_FOUND : or_skipped(error);
  }
  std::string before;
  for (;;) {
    if (const int code = probe(key)) {
      if (code == ESKER_NOT_FOUND && !before.empty()) begin_ranges_anew();
      return fail(code);
    }
    size_t size = 0;
    const char *rest = chars(esker_value_data(probe_, &size));
    entry_ = key;
    entry_.append(rest, size);
    // Its row is locked by now, and still another: it has ended by itself.
    if (entry_ == before) return HA_ERR_KEY_NOT_FOUND;
    Fate fate = kTaken;
    is_unlocked_ = looks_first_;
    const int error = take_entry(record, &fate);
    if (fate == kTaken) {
      is_given_ = !error;
      return was_given(error) ? HA_ERR_KEY_NOT_FOUND : or_skipped(error);
    }
    if (fate == kMoved) note_moved_away();
    give_back_lock();
    if (fate == kPassed) return error ? error : HA_ERR_KEY_NOT_FOUND;
    if (!is_locking() || !session_->reads_latest()) return HA_ERR_KEY_NOT_FOUND;
    if (thd_kill_level(ha_thd())) return HA_ERR_ABORTED_BY_USER;
    before = entry_;
  }
}

// A row that is passed over is as good as not there.
int ha_esker::or_skipped(int error) const {
  return skips_locked_ && error == HA_ERR_LOCK_WAIT_TIMEOUT ? HA_ERR_KEY_NOT_FOUND : error;
}

int ha_esker::index_init(uint index, bool) {
  active_index = index;
  list_ = {};
  close_cursor();
  place_.clear();
  bound_.clear();
  exact_length_ = 0;
  return 0;
}

int ha_esker::index_end() {
  close_cursor();
  place_.clear();
  active_index = MAX_KEY;
  return 0;
}

int ha_esker::index_read_map(uchar *record, const uchar *key, key_part_map parts,
                             ha_rkey_function where) {
  return guarded([&] {
    bool is_whole = false;
    const std::string wanted = search_key(active_index, key, parts, &is_whole);
    bound_.swap(next_bound_);
    next_bound_.clear();
    must_begin_.clear();
    exact_length_ = 0;
    if (where == HA_READ_KEY_EXACT) {
      exact_ = wanted;
      exact_length_ = calculate_key_len(table, active_index, key, parts);
      if (is_whole) return read_exact(record, wanted);
      must_begin_ = wanted;
    }
    const int error = read_where(record, wanted, where);
    must_begin_.clear();
    return error == HA_ERR_END_OF_FILE ? HA_ERR_KEY_NOT_FOUND : error;
  });
}

int ha_esker::read_where(uchar *record, const std::string &wanted, ha_rkey_function where) {
  if (const int error = open_cursor(active_index)) return error;
  switch (where) {
    case HA_READ_KEY_EXACT:
    case HA_READ_KEY_OR_NEXT:
      begin_search(wanted);
      return take(esker_iter_seek(cursor_, begun_at_.data(), begun_at_.size()), record, true);
    case HA_READ_AFTER_KEY:
      begin_search(esker::successor(wanted));
      return take(esker_iter_seek(cursor_, begun_at_.data(), begun_at_.size()), record, true);
    case HA_READ_BEFORE_KEY:
      begin_search(wanted, false);
      return take(seek_before(cursor_, wanted), record, false);
    case HA_READ_PREFIX_LAST:
      must_begin_ = wanted;
      [[fallthrough]];
    case HA_READ_PREFIX_LAST_OR_PREV:
    case HA_READ_KEY_OR_PREV:
      begin_search(esker::successor(wanted), false);
      return take(seek_before(cursor_, begun_at_), record, false);
    default:
      return HA_ERR_UNSUPPORTED;
  }
}

// The server would read one entry more, to see that it is of another key.
int ha_esker::index_next_same(uchar *record, const uchar *key, uint length) {
  if (!exact_length_ || exact_length_ != length) {
    return handler::index_next_same(record, key, length);
  }
  return guarded([&] {
    const int error = step(record, true, exact_);
    return error == HA_ERR_KEY_NOT_FOUND ? HA_ERR_END_OF_FILE : error;
  });
}

int ha_esker::read_range_first(const key_range *lower, const key_range *upper, bool is_one_key,
                               bool sorted) {
  const int failure = guarded([&] {
    next_bound_.clear();
    if (!upper) return 0;
    bool is_whole;
    next_bound_ = search_key(active_index, upper->key, upper->keypart_map, &is_whole);
    if (upper->flag == HA_READ_AFTER_KEY) next_bound_ = esker::successor(next_bound_);
    return 0;
  });
  return failure ? failure : handler::read_range_first(lower, upper, is_one_key, sorted);
}

// From where the last read was, which may have had no cursor.
int ha_esker::step(uchar *record, bool is_forward, const std::string &must_begin) {
  must_begin_ = must_begin;
  const int error = step_anyhow(record, is_forward);
  must_begin_.clear();
  return error;
}

int ha_esker::step_anyhow(uchar *record, bool is_forward) {
  // Once more, and waited for.
  if (cursor_ && is_unlocked_) return take(ESKER_OK, record, is_forward);
  if (cursor_) {
    note_kept();
    return take(is_forward ? esker_iter_next(cursor_) : esker_iter_prev(cursor_), record,
                is_forward);
  }
  if (place_.empty()) return HA_ERR_END_OF_FILE;
  if (const int error = open_cursor(cursor_index_)) return error;
  int code;
  if (is_forward) {
    const std::string after = esker::successor(place_);
    code = esker_iter_seek(cursor_, after.data(), after.size());
  } else {
    code = seek_before(cursor_, place_);
  }
  return take(code, record, is_forward);
}

int ha_esker::index_next(uchar *record) {
  return guarded([&] { return step(record, true); });
}

int ha_esker::index_prev(uchar *record) {
  return guarded([&] { return step(record, false); });
}

int ha_esker::index_first(uchar *record) {
  return guarded([&] {
    must_begin_.clear();
    bound_.swap(next_bound_);
    next_bound_.clear();
    exact_length_ = 0;
    if (const int error = open_cursor(active_index)) return error;
    begin_search(first_key(active_index));
    return take(esker_iter_seek(cursor_, begun_at_.data(), begun_at_.size()), record, true);
  });
}

int ha_esker::index_last(uchar *record) {
  return guarded([&] {
    must_begin_.clear();
    bound_.clear();
    exact_length_ = 0;
    if (const int error = open_cursor(active_index)) return error;
    begin_search(esker::successor(first_key(active_index)), false);
    return take(esker_iter_seek_to_last(cursor_), record, false);
  });
}

int ha_esker::rnd_init(bool scan) {
  if (scan) close_cursor();
  is_at_start_ = scan;
  must_begin_.clear();
  bound_.clear();
  place_.clear();
  return 0;
}

int ha_esker::rnd_end() {
  close_cursor();
  return 0;
}

int ha_esker::rnd_next(uchar *record) {
  return guarded([&] {
    if (!is_at_start_) return step(record, true);
    is_at_start_ = false;
    if (const int error = open_cursor(MAX_KEY)) return error;
    begin_search(first_key(MAX_KEY));
    return take(esker_iter_seek_to_first(cursor_), record, true);
  });
}

// Keys of rows stand in the order of their bytes, also with zeros behind them up to the common
// length, since none is the beginning of another. Their own length is last.
void ha_esker::position(const uchar *record) {
  memset(ref, 0, ref_length);
  guarded([&] {
    // An index that is read alone does not give all columns of the row's key to the record.
    const std::string key = is_index_alone() ? row_key_ : row_key_of(record);
    const size_t room = ref_length - kPlaceLengthBytes;
    const size_t used = std::min(key.size(), room);
    memcpy(ref, key.data(), used);
    int2store(ref + room, static_cast<uint16>(used));
    return 0;
  });
}

int ha_esker::rnd_pos(uchar *record, uchar *place) {
  return guarded([&] {
    const size_t length = uint2korr(place + ref_length - kPlaceLengthBytes);
    // There was no memory to tell the place.
    if (!length) return HA_ERR_OUT_OF_MEM;
    row_key_.assign(reinterpret_cast<char *>(place), length);
    // The server goes on to the next place, and does not come back to this one.
    is_unlocked_ = looks_first_;
    return get_row(record);
  });
}

// Partitions have other numbers, and the server merges what they find in the order of the rest.
int ha_esker::cmp_ref(const uchar *left, const uchar *right) {
  constexpr size_t head = KeyCodec::kIndexBytes;
  return memcmp(left + head, right + head, ref_length - head);
}

// A statement that has an error needs no other.
void ha_esker::print_error(int error, myf flags) {
  if (!ha_thd()->is_error()) handler::print_error(error, flags);
}
