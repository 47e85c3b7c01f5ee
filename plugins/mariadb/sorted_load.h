// Entries of indexes that come in any order, and go into the store as sorted files.
//
// What does not fit in memory is sorted by pieces, each of which goes to the end of a file without
// a name; at the end all pieces are merged. No transaction holds them, so their number is bounded
// by the disk alone. They come in all at once, and two of one key are never taken in.

#ifndef ESKER_SORTED_LOAD_H
#define ESKER_SORTED_LOAD_H

#include "file_set.h"

#include <functional>

namespace esker {

class SortedLoad {
 public:
  SortedLoad(THD *thd, Catalog *catalog, uint32 table);
  ~SortedLoad();

  // Both answer an error number of the server's handlers. `unix_ms` is when the entry ends, 0 for
  // never.
  int add(std::string_view key, std::string_view value, uint64_t unix_ms);
  // HA_ERR_FOUND_DUPP_KEY if a key came twice: `duplicate` tells it then, and nothing came in.
  int take_in(const esker_keyspace *keyspace);

  bool is_empty() const { return places_.empty() && runs_.empty(); }
  // Key, and value of one of the two.
  const std::string &duplicate() const { return duplicate_; }
  const std::string &duplicate_value() const { return duplicate_value_; }
  // Asked of each key before it comes in: whether it is there already.
  using Known = std::function<int(std::string_view key)>;
  void ask(Known known) { known_ = std::move(known); }

 private:
  class Run;
  struct Place {
    uint64_t prefix;  // of the key, to compare by
    size_t at;        // in the bytes
  };
  struct Entry {
    std::string_view key, value;
    uint64_t unix_ms;
  };

  void sort();
  int spill();
  int write_out(const std::string &bytes);
  int take(const Entry &entry);
  int merge();
  static Entry entry_at(const char *from);

  THD *thd_;
  FileSet files_;
  std::string bytes_;
  std::vector<Place> places_;
  int file_ = -1;
  uint64_t file_bytes_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> runs_;  // where each begins and ends in the file
  Known known_;
  std::string duplicate_, duplicate_value_;
};

// The memory that entries are sorted in, by the setting.
ulonglong sort_memory(THD *thd);

}  // namespace esker

#endif
