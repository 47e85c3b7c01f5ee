// How a row is had under a lock, and when its lock is given back.
//
// Under READ COMMITTED the lock of a row that turns out not to match is given back at once. An
// UPDATE that scans comes to rows that others have locked: it looks at them as they were committed
// last, and waits for those alone that match so.

#include "ha_esker.h"

// Said before and after an UPDATE looks for its rows.
void ha_esker::try_semi_consistent_read(bool is_wanted) {
  looks_first_ = is_wanted && gives_back_ && locks_ == kExclusive && !skips_locked_;
  is_unlocked_ = false;
}

// The server asks for the row once more then, and gets it locked.
bool ha_esker::was_semi_consistent_read() { return is_unlocked_; }

// The row last read does not match. Where what partitions find is merged in order, rows of others
// that lie before it were kept by then, so this one is no less a place to stay behind.
void ha_esker::unlock_row() {
  if (gives_back_) give_back_lock();
  forget_lock();
  is_given_ = is_given_ && table->part_info && relies_on_order();
}

// Of the row last read. What was written since, or locked by a function of the condition, stays
// locked, as does all if the transaction came to a row since that it had locked, as by another name
// of the same table: it may be this one. A lock that is not given back is held until the transaction
// ends.
void ha_esker::give_back_lock() {
  uint64_t now = 0;
  if (has_new_lock() && session_->relocks() == relocks_ &&
      !esker_tx_lock_place(transaction(), &now) && now == locked_to_) {
    esker_tx_unlock_since(transaction(), locked_from_);
  }
  forget_lock();
}

// Finds the row of `row_key_` under a lock. A code of esker/c.h.
int ha_esker::lock_row() {
  const void *key = row_key_.data();
  const size_t length = row_key_.size();
  int code = notes_locks_ ? esker_tx_lock_place(transaction(), &locked_from_) : ESKER_OK;
  if (code) return code;
  code = locks_ == kExclusive
             ? esker_tx_get_for_update(transaction(), share_->keyspace, key, length, found_)
             : esker_tx_get_for_share(transaction(), share_->keyspace, key, length, found_);
  if (notes_locks_) {
    const int failure = esker_tx_lock_place(transaction(), &locked_to_);
    if (failure) return failure;
    const bool is_read = code == ESKER_OK || code == ESKER_NOT_FOUND;
    if (is_read && !has_new_lock()) session_->relocked();
    relocks_ = session_->relocks();
  }
  return code;
}

// The same without waiting: ESKER_LOCK_TIMEOUT if another has the lock.
int ha_esker::lock_row_now() {
  int code = esker_tx_set_lock_timeout(transaction(), 0);
  if (code) return code;
  code = lock_row();
  const int failure =
      esker_tx_set_lock_timeout(transaction(), esker::lock_wait_ms(ha_thd()));
  return failure ? failure : code;
}

// The row of `row_key_`, locked if the statement locks. For one that passes over rows that are
// locked, those that others have, or had since its snapshot, are HA_ERR_LOCK_WAIT_TIMEOUT at once.
int ha_esker::get_row(uchar *record) {
  const void *key = row_key_.data();
  const size_t length = row_key_.size();
  const bool looks_first = looks_first_ && !is_unlocked_;
  is_unlocked_ = is_looked_at_ = false;
  int code = 0;
  if (!is_locking()) {
    code = session_->take_moment();
    if (!code) code = esker_tx_get(transaction(), share_->keyspace, key, length, 0, found_);
  } else if (skips_locked_) {
    code = lock_row_now();
    if (code == ESKER_LOCK_TIMEOUT || code == ESKER_CONFLICT) return HA_ERR_LOCK_WAIT_TIMEOUT;
  } else if (looks_first) {
    code = lock_row_now();
    if (code == ESKER_LOCK_TIMEOUT) {
      code = esker_tx_get(transaction(), share_->keyspace, key, length, ESKER_LATEST, found_);
      is_unlocked_ = !code;
      is_looked_at_ = true;
    }
  } else {
    code = lock_row();
  }
  if (code) return fail(code);
  size_t size = 0;
  const void *row = esker_value_data(found_, &size);
  return unpack(record, row, size);
}
