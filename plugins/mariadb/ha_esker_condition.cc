// Index condition pushdown: the part of a WHERE that an entry of an index decides alone is asked
// before the row is read. The server pushes what only concerns columns that the index gives back.

#include "ha_esker.h"

Item *ha_esker::idx_cond_push(uint index, Item *condition) {
  pushed_idx_cond = condition;
  pushed_idx_cond_keyno = index;
  return nullptr;
}

// Of the entry whose parts are in `starts_`. The condition looks at the server's first record.
int ha_esker::check_condition(Fate *fate) {
  const uchar *entry = reinterpret_cast<const uchar *>(entry_.data());
  keys_[active_index]->restore(entry, starts_, table->record[0]);
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
