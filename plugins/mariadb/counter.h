// The numbers that a table has given: values of its AUTO_INCREMENT column, and names of its rows
// where it has no primary key.
//
// A counter lives as long as the engine is loaded, and not as long as its table is open: a table
// may be closed and opened again while rows that have its numbers are not committed. The next
// value is written to the catalogue before any transaction that took one ends. Both go into one
// log, so a value is never given again, not even after a crash, though its row was deleted. Row
// numbers are not written: those of a start lie above those of all before.

#ifndef ESKER_COUNTER_H
#define ESKER_COUNTER_H

#include "server.h"

#include <mutex>

namespace esker {

class Catalog;

// All its calls may come from any thread.
class Counter {
 public:
  // `is_kept`: its next value goes into the catalogue, under that number of a table.
  Counter(Catalog *catalog, uint32 table, ulonglong row_id, bool is_kept)
      : catalog_(catalog), table_(table), row_id_(row_id), is_kept_(is_kept) {}

  // Whether anyone began it; the next value is 0 until then.
  ulonglong next();
  void begin_at(ulonglong next);
  // The next one is to be looked for again.
  void forget();

  // Takes up to `wanted` values that lie `increment` apart, from `offset` on, and none above
  // `most`: beyond the end it is one, which the server finds to be out of range. The first of them.
  ulonglong take(ulonglong offset, ulonglong increment, ulonglong wanted, ulonglong most,
                 ulonglong *given);
  // A value that was given by hand.
  void raise(ulonglong value);

  // Gives nothing that the other one gave.
  void follow(Counter &other);

  ulonglong take_row_id();
  // The last one that was given; those of earlier starts lie below it.
  ulonglong last_row_id();

  // Writes the next value to the catalogue, if it is another than was written last. A code of
  // esker/c.h.
  int keep();

 private:
  Catalog *catalog_;
  uint32 table_;
  std::mutex turn_;  // guards what follows
  ulonglong next_ = 0;
  ulonglong kept_ = 0;
  ulonglong row_id_;
  bool is_kept_;
};

}  // namespace esker

#endif
