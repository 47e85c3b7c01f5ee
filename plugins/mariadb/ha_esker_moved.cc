// Rows whose keys moved while a search goes over them.
//
// A statement that locks its rows as they are reads the entries that there were when its cursor was
// made. An entry whose row has another key by now is passed over, and the new place may lie where
// the search has been. Whoever moved the row, or deleted it, may have moved others there before the
// search began, and committed since, and then the search would have come to these first. So it goes
// back, to behind the last row that the statement has kept; what follows comes in order. What lies
// before that row would not. A statement that wants no order is given that at its end; for one that
// does it is passed over, like a row that moves to where a scan has been.
//
// A search backward goes back in the same way, and has an order always. Ranges that are searched one
// after the other, of which each lies behind the one before, are one search: it begins anew with the
// first of them, behind what is kept, or looks at all of them again at its end.

#include "ha_esker.h"

#include <algorithm>

namespace {

// For each row that moved so many at most are looked at twice at once, unless it is known where the
// one has moved to: of one that is not there any more nobody knows that.
constexpr size_t kRejectedMax = 128;

}  // namespace

// A search begins there, or behind that where what lies before was searched already.
void ha_esker::begin_search(const std::string &from, bool is_forward) {
  begun_at_ = from;
  rejected_ = list_.is_on ? rejected_ + 1 : 0;
  if (list_.is_on) {
    if (!kept_.empty()) list_.kept = kept_;
    // One that was had unlocked is asked for once more.
    if (is_given_ && kept_.empty() && !is_unlocked_) {
      list_.kept = place_;
      rejected_ = 0;
    }
    list_.begun++;
    if (list_.begun <= list_.anew && from <= list_.kept) begun_at_ = list_.kept + '\0';
  }
  is_backward_ = !is_forward;
  is_given_ = false;
  kept_.clear();
  moved_from_.clear();
  is_second_ = false;
}

// The cursor leaves the row last given.
void ha_esker::note_kept() {
  if (!notes_locks_ || begun_at_.empty() || is_second_) return;
  if (!is_given_) {
    rejected_++;
    return;
  }
  size_t size = 0;
  const void *key = esker_iter_key(cursor_, &size);
  kept_.assign(static_cast<const char *>(key), size);
  rejected_ = 0;
}

// An entry whose row is locked, and has another key or none, is one of before. Where it is there
// still it is nobody's, and the search would come to it for ever. If the row was only looked at, it
// is waited for.
int ha_esker::check_gone(bool *is_awaited) {
  if (!notes_locks_ || expires_ || is_rows(cursor_index_)) return 0;
  size_t size = 0;
  const void *key = esker_iter_key(cursor_, &size);
  const int code =
      esker_tx_get(transaction(), share_->keyspace, key, size, ESKER_LATEST, probe_);
  if (code) return code == ESKER_NOT_FOUND ? 0 : fail(code);
  std::string entry(static_cast<const char *>(key), size);
  const void *rest = esker_value_data(probe_, &size);
  entry.append(static_cast<const char *>(rest), size);
  if (entry != entry_) return 0;
  if (is_looked_at_) {
    is_unlocked_ = *is_awaited = true;
    return 0;
  }
  sql_print_error("ESKER: index %s of %s has an entry that is no row's",
                  table->key_info[cursor_index_].name.str, share_->name.c_str());
  return HA_ERR_CRASHED;
}

// One that was locked before was given before, or moved by this transaction itself.
void ha_esker::note_moved_away() {
  if (can_look_back() && (has_new_lock() || is_looked_at_)) list_.has_moved = true;
}

// The row of what the cursor is at has moved. Whoever moved it may have moved others back from where
// the search has not been, and the cursor that is made now does not have these there. Answers where
// to go back to at once; empty for nowhere.
std::string ha_esker::note_moved(bool is_forward) {
  if (!can_look_back() || begun_at_.empty() || is_second_ || list_.is_second) return {};
  if (is_forward == is_backward_) return {};
  size_t size = 0;
  const char *key = static_cast<const char *>(esker_iter_key(cursor_, &size));
  const std::string here(key, size);
  note_moved_away();
  if (is_forward && (has_new_lock() || is_looked_at_)) moved_from_ = here;
  if (!is_forward) {
    if (rejected_ <= kRejectedMax) return kept_.empty() ? begun_at_ : kept_;
    const bool is_between = moved_to_ < (kept_.empty() ? begun_at_ : kept_) && moved_to_ > here;
    return is_between ? moved_to_ + '\0' : std::string();
  }
  if (rejected_ <= kRejectedMax) return kept_.empty() ? begun_at_ : kept_ + '\0';
  const bool is_between = moved_to_ > kept_ && moved_to_ >= begun_at_ && moved_to_ < here;
  return is_between ? moved_to_ : std::string();
}

// A code of esker/c.h.
int ha_esker::seek_back(const std::string &to) {
  close_cursor();
  if (const int code = new_cursor(cursor_index_)) return code;
  return is_backward_ ? seek_before(cursor_, to)
                      : esker_iter_seek(cursor_, to.data(), to.size());
}

// At the end of a search: whether what moved back meanwhile is still to be looked for.
bool ha_esker::looks_again() {
  if (moved_from_.empty() || is_second_ || list_.is_on || relies_on_order()) return false;
  is_second_ = true;
  return true;
}

// A row that the search has given, or this transaction before: it is locked already.
bool ha_esker::was_given(int error) const {
  return (is_second_ || list_.is_second) && !error && !is_unlocked_ && !has_new_lock();
}

// A row has moved. Whether the next range is the first one again, since nothing is kept of this one,
// which is to end then.
bool ha_esker::begin_ranges_anew() {
  if (!list_.is_on || list_.is_second || !kept_.empty() || rejected_ > kRejectedMax) return false;
  close_cursor();
  mrr_iter = mrr_funcs.init(list_.state, list_.count, list_.mode);
  list_.anew = std::max(list_.anew, list_.begun);
  list_.begun = 0;
  return true;
}

// At the end of all ranges, as `looks_again`.
bool ha_esker::looks_at_ranges_again() {
  if (!list_.has_moved || list_.is_second || relies_on_order()) return false;
  close_cursor();
  mrr_iter = mrr_funcs.init(list_.state, list_.count, list_.mode);
  mrr_have_range = false;
  list_.is_second = true;
  list_.anew = 0;
  return true;
}

// Whether the statement may take its rows in the order of the index. What the server says of that
// (`sorted`) is no answer: it is said of nearly all.
bool ha_esker::relies_on_order() const {
  if (active_index == MAX_KEY) return false;
  for (const TABLE_LIST *at = table->pos_in_table_list; at; at = at->embedding) {
    // A semi-join may take each key for a group.
    if (at->sj_on_expr) return true;
  }
  SELECT_LEX *select = ha_thd()->lex->all_selects_list;
  for (; select; select = select->next_select_in_list()) {
    if (select->order_list.elements || select->group_list.elements ||
        select->options & SELECT_DISTINCT) {
      return true;
    }
  }
  return false;
}
