// The numbers that a table has given.

#include "counter.h"

#include "catalog.h"

#include <algorithm>

namespace esker {

ulonglong Counter::next() {
  std::lock_guard<std::mutex> turn(turn_);
  return next_;
}

void Counter::begin_at(ulonglong next) {
  std::lock_guard<std::mutex> turn(turn_);
  next_ = std::max(next_, next);
}

void Counter::forget() {
  std::lock_guard<std::mutex> turn(turn_);
  next_ = 0;
  kept_ = 0;
}

ulonglong Counter::take(ulonglong offset, ulonglong increment, ulonglong wanted, ulonglong most,
                        ulonglong *given) {
  std::lock_guard<std::mutex> turn(turn_);
  ulonglong first = next_;
  if (increment > 1 && first > offset) {
    first = (first - offset + increment - 1) / increment * increment + offset;
  } else if (increment > 1) {
    first = offset;
  }
  const ulonglong left = first < most ? (most - first) / increment + 1 : 1;
  *given = std::min(std::max<ulonglong>(wanted, 1), left);
  const ulonglong after = first + *given * increment;
  next_ = after < first ? ULONGLONG_MAX : after;
  return first;
}

void Counter::raise(ulonglong value) {
  std::lock_guard<std::mutex> turn(turn_);
  if (value >= next_) next_ = value == ULONGLONG_MAX ? value : value + 1;
}

void Counter::follow(Counter &other) {
  const ulonglong next = other.next(), row_id = other.last_row_id();
  std::lock_guard<std::mutex> turn(turn_);
  next_ = std::max(next_, next);
  row_id_ = std::max(row_id_, row_id);
}

ulonglong Counter::take_row_id() {
  std::lock_guard<std::mutex> turn(turn_);
  return ++row_id_;
}

ulonglong Counter::last_row_id() {
  std::lock_guard<std::mutex> turn(turn_);
  return row_id_;
}

// Under its lock, so that what is written never goes back.
int Counter::keep() {
  std::lock_guard<std::mutex> turn(turn_);
  if (!is_kept_ || next_ == kept_) return ESKER_OK;
  const int code = catalog_->put_counter(table_, next_);
  if (!code) kept_ = next_;
  return code;
}

}  // namespace esker
