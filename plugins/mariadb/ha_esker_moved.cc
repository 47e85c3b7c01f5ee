// Rows whose keys moved back while a search goes forward.
//
// A statement that locks its rows as they are reads the entries that there were when its cursor was
// made. An entry whose row has another key by now is passed over, and the new place may lie behind.
// Whoever moved the row may have done so before the search began, and committed since, and then the
// search would have come to the new place first. So it goes back, to behind the last row that the
// statement has kept; what follows comes in order. What lies before that row would not. A statement
// that wants no order is given that at its end; for one that does it is passed over, like a row that
// moves to where a scan has been.

#include "ha_esker.h"

namespace {

// For each row that moved so many at most are looked at twice at once, unless it is known where the
// one has moved to: of one that is not there any more nobody knows that.
constexpr size_t kRejectedMax = 128;

}  // namespace

// A search forward begins there; "" is another one, which has nowhere to look again.
void ha_esker::begin_search(const std::string &from) {
  begun_at_ = from;
  kept_.clear();
  rejected_ = 0;
  moved_from_.clear();
  is_second_ = false;
}

// The name of a row that has no key never changes.
ha_esker::Fate ha_esker::fate_of_missing() {
  moved_to_.clear();
  return table->s->primary_key == MAX_KEY ? kGone : kMoved;
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

// The row of what the cursor is at has moved. Whoever moved it may have moved others back from where
// the search has not been, and the cursor that is made now does not have these there. Answers where
// to go back to at once; empty for nowhere.
std::string ha_esker::note_moved() {
  if (!notes_locks_ || begun_at_.empty() || is_second_ || skips_locked_ || expires_) return {};
  size_t size = 0;
  const char *key = static_cast<const char *>(esker_iter_key(cursor_, &size));
  const std::string here(key, size);
  // One that was locked before was given before, or moved by this transaction itself.
  if (has_new_lock() || is_looked_at_) moved_from_ = here;
  if (rejected_ <= kRejectedMax) return kept_.empty() ? begun_at_ : kept_ + '\0';
  const bool is_between = moved_to_ > kept_ && moved_to_ >= begun_at_ && moved_to_ < here;
  return is_between ? moved_to_ : std::string();
}

// A code of esker/c.h.
int ha_esker::seek_back(const std::string &to) {
  close_cursor();
  if (const int code = new_cursor(cursor_index_)) return code;
  return esker_iter_seek(cursor_, to.data(), to.size());
}

// At the end of a search: whether what moved back meanwhile is still to be looked for.
bool ha_esker::looks_again() {
  if (moved_from_.empty() || is_second_ || relies_on_order()) return false;
  is_second_ = true;
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
