// Which keyspace and which index numbers a table has.
//
// The catalogue is a keyspace of its own, "sql.catalog". Numbers are big-endian.
//
// | key            | value                                                                   |
// |----------------|-------------------------------------------------------------------------|
// | 01, table path | the table's record, see table_record.h                                  |
// | 02             | the next table number (4), the next index number (4), starts so far (4)  |
// | 03, table      | the next value of its AUTO_INCREMENT column (8), see counter.h           |
// | 04, index      | the number (4) of the table that this index is being built for: until    |
// | number (4)     | the record has it, whoever finds this takes its entries away             |
// | 05, and more   | what was sampled of an index, see index_statistics.h                     |
//
// A table's entries lie in the keyspace "sql.table.NUMBER". It is made before the record and
// dropped after it, so a crash leaves at most a keyspace without a record, which the next start
// drops. Numbers are never given twice. What an ALTER does without a copy is one batch: the
// records, and the deletion of what no index has any more.

#ifndef ESKER_CATALOG_H
#define ESKER_CATALOG_H

#include "border.h"
#include "counter.h"
#include "table_options.h"
#include "table_record.h"

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

// A batch that is freed with its owner.
struct Batch {
  explicit Batch(esker_db *db) { code = esker_batch_new(db, &it); }
  ~Batch() { esker_batch_free(it); }
  esker_batch *it = nullptr;
  int code;
};

std::string table_key(const std::string &name);
std::string keyspace_name(uint32 table);

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
    std::vector<std::string> indexes;  // their names
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
  // Numbers for indexes that are to be built in a table, and a mark of each, which alter or
  // clear_index takes away.
  int number_indexes(uint32 table, size_t count, std::vector<uint32> *numbers);
  // Deletes what there is of an index that did not come about.
  int clear_index(uint32 table, uint32 index);
  // A table's record as an ALTER leaves it, with numbers of indexes that it has no more, and of
  // those that are new.
  struct Altered {
    std::string name;
    TableRecord record;
    std::vector<uint32> dropped;
    std::vector<uint32> built;
    bool resets_counter;
  };
  // All of them at one moment, or none.
  int alter(const std::vector<Altered> &tables);
  // Whether the table, or each of its partitions, belongs to that definition of the server's.
  bool has_definition(const std::string &name, const std::string &definition);

  // A directory for a set of sorted files that is yet to be made, and is gone after a crash; and
  // how the files of a table are written. A code of esker/c.h.
  std::string load_directory();
  int file_options(uint32 table, esker_keyspace_options **options);

  // A new keyspace with the settings of a table's, for what the table is to have once a record with
  // the number of that keyspace is written.
  int begin_load(const TableRecord &before, TableRecord *record, esker_keyspace **keyspace);
  // Has a transaction write that record. A code of esker/c.h.
  int put_loaded(esker_tx *transaction, const std::string &name, const TableRecord &record,
                 const esker_keyspace *keyspace);
  // That record was committed. Snapshots from before find nothing in its keyspace: where the table
  // has a past, they are not to look.
  void note_loaded(TableRecord *record, bool has_past);
  // Drops the keyspace of that number, which is in no record any more, or never was.
  int end_load(uint32 number);

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
  int sweep_indexes();
  void tell_strays(const std::vector<std::string> &tables);

  static int make_options(const Settings &settings, esker_keyspace_options **options);

  std::string loads_;  // where files are made that are to be taken in
  std::atomic<ulonglong> load_{0};
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
// Whether the server has no words of its own for that number, and the store's are told.
inline bool has_no_words(int error) {
  return error == HA_ERR_TO_BIG_ROW || error == HA_ERR_INTERNAL_ERROR;
}

}  // namespace esker

#endif
