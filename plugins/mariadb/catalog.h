// Which keyspace and which index numbers a table has.
//
// The catalogue is a keyspace of its own, "sql.catalog". Numbers are big-endian.
//
// | key            | value                                                                   |
// |----------------|-------------------------------------------------------------------------|
// | 01, table path | format version 1 (1 byte), 1 where temporary else 0 (1), number of the   |
// |                | table (4), first value of its counter (8), number of its indexes (2),    |
// |                | and for each its number (4): that of the rows, then one per key          |
// | 02             | the next table number (4), the next index number (4), starts so far (4)  |
// | 03, table      | the next value of its AUTO_INCREMENT column (8), see counter.h           |
// | number (4)     |                                                                          |
//
// A table's entries lie in the keyspace "sql.table.NUMBER". It is made before the record and
// dropped after it, so a crash leaves at most a keyspace without a record, which the next start
// drops. Numbers are never given twice.

#ifndef ESKER_CATALOG_H
#define ESKER_CATALOG_H

#include "counter.h"
#include "table_options.h"

#include <esker/c.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace esker {

// Stands in the path of a partition behind that of its table, and in no name of a table: there the
// server writes the sign in another way.
constexpr const char *kPartition = "#P#";

struct TableRecord {
  uint32 number = 0;
  bool is_temporary = false;
  ulonglong counter = 0;
  std::vector<uint32> indexes;
  // Not written: which change of all since the start made the table what it is; 0 for none.
  ulonglong changed = 0;
};

// All its calls may come from any thread; those that change it take turns. They return 0 or an
// error number of the server's handlers.
class Catalog {
 public:
  // Opens the database in `path`, makes it if it is not there, and sweeps what a crash left.
  // Returns a code of esker/c.h.
  static int open(const char *path, const char *memory_limit, Catalog **catalog);
  ~Catalog();

  esker_db *db() const { return db_; }
  esker_keyspace *records() const { return records_; }
  // What the table's record begins with, and the settings of its keyspace. HA_WRONG_CREATE_OPTION
  // where there are no such settings; esker_errmsg() says why.
  struct Wanted {
    size_t indexes;
    bool is_temporary;
    ulonglong counter;
    Settings settings;
  };
  int create(const std::string &name, const Wanted &wanted);
  int find(const std::string &name, TableRecord *record);
  int open_table(const TableRecord &record, esker_keyspace **keyspace);
  int rename(const std::string &from, const std::string &to);
  // Forgets the table and tells its number: its keyspace is still to be dropped.
  int forget(const std::string &name, uint32 *number);
  int drop_keyspace(uint32 number);
  // Gives the table a new and empty keyspace with the same settings; its indexes keep their
  // numbers.
  int truncate(const std::string &name);
  // How many changes of tables there were since the start: tables made, emptied and renamed.
  ulonglong changes() const { return change_; }
  // The value that a table's counter begins with, also if it is less than what was given.
  int set_counter(const std::string &name, ulonglong counter);

  // The counter of a table, the same for all who ask until it is dropped.
  std::shared_ptr<Counter> counter(const TableRecord &record);
  // The next value as it was written last; 0 if it never was.
  int read_counter(uint32 table, ulonglong *next);
  // Writes it into the log, and does not wait for a sync. A code of esker/c.h.
  int put_counter(uint32 table, ulonglong next);

  // Paths of the tables that the catalogue has.
  int names(std::vector<std::string> *names);

 private:
  Catalog() = default;
  int start();
  int sweep();
  int read_next();
  int commit_next(esker_batch *batch);
  int put_record(esker_batch *batch, const std::string &name, const TableRecord &record);
  int delete_counter(esker_batch *batch, uint32 table);
  void forget_table(uint32 table);
  void note_change(uint32 table);
  int make_keyspace(uint32 number, const Settings &settings);
  int read_settings(uint32 number, Settings *settings);
  void tell_strays(const std::vector<std::string> &tables);

  std::mutex changes_;
  std::mutex turn_;  // guards what follows
  std::map<uint32, std::shared_ptr<Counter>> counters_;
  std::map<uint32, ulonglong> changed_;
  std::atomic<ulonglong> change_{0};
  esker_db *db_ = nullptr;
  esker_keyspace *records_ = nullptr;
  uint32 next_table_ = 1;
  uint32 next_index_ = 1;
  // How often the database was opened: row ids of a start lie above those of all before.
  uint32 starts_ = 0;
};

// A code of esker/c.h as an error number of the server's handlers.
int handler_error(int code);

}  // namespace esker

#endif
