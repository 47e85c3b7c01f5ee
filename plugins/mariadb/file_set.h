// A set of sorted files that is being written, to be taken into a table's keyspace.
//
// Building blocks and compressing them takes about as long as a server takes to read the rows. So
// once a set is large, a thread of its own writes it, behind whoever puts entries, which are handed
// over by batches: at most two of them wait.

#ifndef ESKER_FILE_SET_H
#define ESKER_FILE_SET_H

#include "catalog.h"

#include <condition_variable>
#include <string_view>
#include <thread>

namespace esker {

// Used by one thread; keys ascend.
class FileSet {
 public:
  // Files like those of the table's keyspace.
  FileSet(Catalog *catalog, uint32 table) : catalog_(catalog), table_(table) {}
  ~FileSet();
  FileSet(const FileSet &) = delete;
  FileSet &operator=(const FileSet &) = delete;

  // Both answer an error number of the server's handlers; why, its log has. What cannot be written
  // may be told by a later call. `unix_ms` is when the entry ends, 0 for never.
  int put(std::string_view key, std::string_view value, uint64_t unix_ms);
  int take_in(const esker_keyspace *keyspace);

  bool is_empty() const { return !writer_; }
  std::string_view last_key() const { return last_key_; }

 private:
  int begin();
  int hand_over();
  void begin_thread();
  void end_thread();
  void run();
  int write(const std::string &batch, std::string *said);
  int tell(int code, const char *said) const;

  Catalog *catalog_;
  uint32 table_;
  std::string directory_;
  esker_sst_writer *writer_ = nullptr;
  std::string last_key_;
  std::string batch_;  // entries that nobody has written yet
  size_t bytes_ = 0;   // of those before

  std::thread thread_;
  std::mutex turn_;  // guards what follows
  std::condition_variable changed_;
  std::string handed_;  // for the thread; empty once it has it
  bool is_over_ = false;
  int code_ = 0;  // of esker/c.h: the thread has ended with it
  std::string said_;
};

}  // namespace esker

#endif
