// The batch of rows that a multi-range read has fetched, and the range that it has come to.

#ifndef ESKER_RANGE_READER_H
#define ESKER_RANGE_READER_H

#include "server.h"

#include <esker/c.h>

#include <string>
#include <string_view>
#include <vector>

namespace esker {

struct RangeReader {
  RangeReader() = default;
  RangeReader(const RangeReader &) = delete;
  RangeReader &operator=(const RangeReader &) = delete;
  ~RangeReader() {
    for (esker_value *value : values) esker_value_free(value);
    for (esker_value *value : entry_values) esker_value_free(value);
  }

  // How the rows of a range are found.
  enum Way { kNone, kRowKeys, kEntryKeys, kScan, kSideBySide };

  // A key, in `bytes`, and what it was asked for.
  struct Found {
    size_t from, length;
    range_id_t range;
    size_t value = 0;  // where it is in the values
    size_t entry_from = 0, entry_length = 0;
    bool is_absent = false;
  };
  using Batch = std::vector<Found>;
  using Values = std::vector<esker_value *>;

  void add(std::string_view key, range_id_t range) {
    found.push_back({bytes.size(), key.size(), range});
    bytes += key;
  }
  void end_range() {
    is_in_range = false;
    way = kNone;
  }
  void clear_batch() {
    found.clear();
    bytes.clear();
    entries.clear();
    at = 0;
    batch_way = is_in_range ? way : kNone;
  }
  // Lets go of what it holds: blocks in memory, above all.
  void clear() {
    is_on = is_in_range = is_pending = is_at_end = false;
    way = kNone;
    clear_batch();
    for (esker_value *value : values) esker_value_clear(value);
    for (esker_value *value : entry_values) esker_value_clear(value);
  }

  bool is_on = false;
  size_t rows_max = 0, rows_wanted = 0;

  std::string lower, upper;  // of the range
  Way way = kNone;           // of the range
  bool is_in_range = false;  // it was begun, and goes on
  bool is_pending = false;   // it was taken from the server, and waits for the next batch
  bool is_at_end = false;    // there is none any more

  Way batch_way = kNone;
  Batch found;
  size_t at = 0;        // of the next row to be given
  std::string bytes;    // keys of rows
  std::string entries;  // of an index, where that alone answers
  Values values, entry_values;
};

// How many rows were looked up together since the start, and how many times.
void count_batch(size_t rows);
ulonglong batches();
ulonglong batched_rows();

}  // namespace esker

#endif
