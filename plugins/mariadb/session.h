// One transaction per connection, and what the server asks of it.
//
// The transaction locks what it writes, and what it reads to write. REPEATABLE READ is a snapshot
// in which the first to update a row wins: the other is told when it asks for the row. READ
// UNCOMMITTED is READ COMMITTED, in which each statement reads at one moment. Under SERIALIZABLE all
// tables that are read are locked against writers. A statement outside of a transaction that writes reads rows
// as they are once it has their locks, whatever the level: it has no moment to be true to.
//
// Within a transaction of several statements each begins with a savepoint, so that it can be undone
// alone.

#ifndef ESKER_SESSION_H
#define ESKER_SESSION_H

#include "border.h"
#include "catalog.h"

#include <functional>

namespace esker {

// What there is of the engine while it is loaded.
extern handlerton *engine;
extern Catalog *catalog;

// Used by the connection's own thread; also by one that commits for it.
class Session {
 public:
  // The connection's, made at its first use.
  static Session *of(THD *thd);
  ~Session() { end(); }

  // What a statement does with a table: whether it looks for rows, and locks those that it finds.
  struct Use {
    const esker_keyspace *table;
    bool reads;
    bool locks;
    ulonglong changed;  // as of the table's record; 0 of a temporary one
  };

  // A statement begins to use a table: begins what has to be begun. 0, or an error that was told.
  int enter(THD *thd, const Use &use);

  // Before rows are read that are not locked: those of one statement are of one moment. A code of
  // esker/c.h.
  int take_moment();

  // The connection made a table, or changed one: what it began in that statement may see it.
  void changed_tables() { known_changes_ = catalog->changes(); }
  // Waits until no other transaction has writes for the table, as before it is dropped or renamed:
  // one that is prepared may outlive its connection, and the lock that the server has on the table.
  int wait_for_writers(THD *thd, const std::string &name);
  // Drops a table. Its keyspace goes when the transaction that goes on, which may have writes for
  // it, has ended. An error number of the server's handlers.
  int drop(THD *thd, const std::string &name);

  // Drops what there is of the partitions of a table that the server has no definition of: in this
  // server a crash within DROP TABLE may leave them. HA_ERR_NO_SUCH_TABLE if there is nothing.
  int drop_partitions(THD *thd, const std::string &name);
  // Whether a statement comes to its first check of all files: one of a table with partitions comes
  // to it with each.
  bool begins_check(THD *thd);

  esker_tx *transaction() const { return transaction_; }
  bool reads_latest() const { return isolation_ == ESKER_READ_COMMITTED; }
  // Has calls that wait for locks end with ESKER_INTERRUPTED; from any thread.
  void interrupt();

  // Goes up with each row that is read under a lock which the transaction had before.
  ulonglong relocks() const { return relocks_; }
  void relocked() { relocks_++; }

  // Goes up with each write: a cursor from before does not see it.
  ulonglong writes() const { return writes_; }
  void wrote() { writes_++; }

  // The transaction takes numbers of that counter: its next value is kept before it ends.
  void note(const std::shared_ptr<Counter> &counter);

  // What is to be done once the transaction has ended; told whether it was committed.
  using AtEnd = std::function<void(bool is_committed)>;
  void at_end(AtEnd call) { at_end_.push_back(std::move(call)); }

  // A statement found a key of that index twice at its end, where the server may ask another
  // partition than the one that did.
  void note_duplicate(THD *thd, uint index) {
    duplicate_query_ = thd->query_id;
    duplicate_index_ = index;
  }
  // That index, of this statement; MAX_KEY if there was none.
  uint duplicate(THD *thd) const {
    return duplicate_query_ == thd->query_id ? duplicate_index_ : MAX_KEY;
  }

  // A code as an error of the server's handlers; a deadlock rolls the transaction back.
  int error(THD *thd, int code);

  // Fills in what the handlerton has of transactions.
  static void register_calls(handlerton *to);

 private:
  static int commit(handlerton *, THD *thd, bool all);
  static int rollback(handlerton *, THD *thd, bool all);
  static int prepare(handlerton *, THD *thd, bool all);
  static int recover(handlerton *, XID *list, uint length);
  static int commit_by_xid(handlerton *, XID *xid);
  static int rollback_by_xid(handlerton *, XID *xid);
  static int savepoint_set(handlerton *, THD *thd, void *place);
  static int savepoint_rollback(handlerton *, THD *thd, void *place);
  static int savepoint_release(handlerton *, THD *thd, void *place);
  static int start_snapshot(handlerton *, THD *thd);
  static int close_connection(handlerton *, THD *thd);
  static void commit_ordered(handlerton *, THD *thd, bool all);
  static void commit_checkpoint_request(void *cookie);
  static void kill_query(handlerton *, THD *thd, thd_kill_levels);

  int begin(THD *thd, bool locks);
  int begin_statement(THD *thd);
  int end_statement();
  void end(bool is_committed = false);
  int keep_counters();
  esker_tx *transaction_ = nullptr;
  std::mutex waits_;  // guards what follows, which other threads use
  esker_interrupter *interrupter_ = nullptr;
  bool is_interrupted_ = false;

  bool is_prepared_ = false;
  bool is_ordered_ = false;       // committed in order, and to be finished
  bool is_serializable_ = false;  // locks the tables that it reads
  ulonglong known_changes_ = 0;   // of tables, when it began
  bool has_moment_ = false;       // of READ COMMITTED, for one statement
  query_id_t query_ = 0;          // the statement that it was entered with last
  query_id_t duplicate_query_ = 0;
  uint duplicate_index_ = MAX_KEY;
  query_id_t checked_ = 0;        // the last one that checked all files
  int isolation_ = ESKER_SNAPSHOT;
  ulonglong writes_ = 0;
  ulonglong relocks_ = 0;
  bool is_in_statement_ = false;
  uint64_t statement_ = 0;  // the savepoint it began with
  std::vector<std::shared_ptr<Counter>> counters_;
  std::vector<AtEnd> at_end_;
  std::vector<uint32> dropped_;  // keyspaces of temporary tables that are gone
};

// What a write is to survive, and how long a connection waits for a lock: by the settings.
uint32 durability();
ulonglong lock_wait_ms(THD *thd);

// Whether statements of many rows may write files.
bool loads_files(THD *thd);

// Whether a table with foreign keys, which are not kept, is an error and not a warning.
bool refuses_foreign_keys(THD *thd);

}  // namespace esker

#endif
