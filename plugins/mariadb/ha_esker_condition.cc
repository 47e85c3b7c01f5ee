// Index condition pushdown: the part of a WHERE that an entry of an index decides alone is asked
// before the row is read. The server pushes what only concerns columns that the index gives back.

#include "ha_esker.h"

Item *ha_esker::idx_cond_push(uint index, Item *condition) {
  pushed_idx_cond = condition;
  pushed_idx_cond_keyno = index;
  return nullptr;
}

// Puts what the entry in `entry_` gives back into the server's first record, for a condition; its
// parts are in `starts_`, and the key of its row is in `row_key_`. The sign of a zero the row alone
// knows; of one that has gone nobody will ask.
int ha_esker::show_entry() {
  const uchar *entry = reinterpret_cast<const uchar *>(entry_.data());
  if (keys_[active_index]->restore(entry, starts_, table->record[0])) return 0;
  int code = is_locking() ? ESKER_OK : session_->take_moment();
  if (!code) {
    code = esker_tx_get(transaction(), share_->keyspace, row_key_.data(), row_key_.size(),
                        read_flags(), probe_);
  }
  if (code) return code == ESKER_NOT_FOUND ? 0 : fail(code);
  size_t size = 0;
  const void *row = esker_value_data(probe_, &size);
  return unpack(table->record[0], row, size);
}

// The condition looks at the server's first record.
int ha_esker::check_condition(Fate *fate) {
  if (const int error = show_entry()) return error;
  // The server would compare with the end of its range, for which a column may be missing that the
  // index does not give back; `bound_` sees to it.
  key_range *const end = end_range;
  end_range = nullptr;
  const check_result_t answer = handler_index_cond_check(this);
  end_range = end;
  switch (answer) {
    case CHECK_POS:
      return 0;
    case CHECK_NEG:
      *fate = kPassed;
      return 0;
    default:
      return HA_ERR_ABORTED_BY_USER;
  }
}
