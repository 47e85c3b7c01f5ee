// Many rows that go into an empty table, as files and not as writes of a transaction.
//
// The files go into a new keyspace, which nobody knows yet. The transaction writes one thing: the
// table's record, with the number of that keyspace. So its commit is theirs, whatever its phases,
// and its end without one leaves a keyspace that is dropped, now or by the next start. Whoever
// makes one sees to it that nobody else uses the table.

#ifndef ESKER_TABLE_LOAD_H
#define ESKER_TABLE_LOAD_H

#include "sorted_load.h"

namespace esker {

class Share;

class TableLoad {
 public:
  TableLoad(THD *thd, Catalog *catalog, Share *share);
  ~TableLoad();

  // These answer an error number of the server's handlers.
  int begin();
  // HA_ERR_FOUND_DUPP_KEY where the row before had the same key.
  int add_row(std::string_view key, std::string_view value);
  int add_entry(std::string_view key, std::string_view value);
  // What the transaction wrote into the table before.
  int add_written(esker_tx *transaction);
  // Takes all in, and has the transaction write the record. HA_ERR_FOUND_DUPP_KEY: `duplicate` has
  // key and value of one of the two, of a row or an entry.
  int finish(esker_tx *transaction);

  const std::string &duplicate() const { return duplicate_; }
  const std::string &duplicate_value() const { return duplicate_value_; }

  // The transaction ended; or what was loaded is not wanted any more.
  void end(bool is_committed);
  // Nobody has the table open any more.
  void forget_share() { share_ = nullptr; }

 private:
  int note_duplicate(int error, const SortedLoad &load);

  Catalog *catalog_;
  Share *share_;
  bool is_begun_ = false;
  std::string name_;
  TableRecord before_;
  TableRecord record_;
  esker_keyspace *before_keyspace_ = nullptr;
  esker_keyspace *keyspace_ = nullptr;  // the share's, once it is begun
  bool has_past_ = true;  // older snapshots may find rows in the table
  std::shared_ptr<Counter> before_counter_;
  std::unique_ptr<FileSet> rows_;      // as long as their keys ascend
  std::unique_ptr<SortedLoad> later_;  // rows behind one that did not
  std::unique_ptr<SortedLoad> entries_;
  std::string duplicate_, duplicate_value_;
  THD *thd_;
};

}  // namespace esker

#endif
