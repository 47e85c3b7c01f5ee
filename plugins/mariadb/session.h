// One transaction per connection, and what the server asks of it.
//
// The transaction locks what it writes. REPEATABLE READ is a snapshot in which the first to update
// a row wins: the other is refused when it commits. READ UNCOMMITTED is READ COMMITTED;
// SERIALIZABLE is refused. Within a transaction of several statements each statement begins with a
// savepoint, so that it can be undone alone.

#ifndef ESKER_SESSION_H
#define ESKER_SESSION_H

#include "border.h"
#include "catalog.h"

namespace esker {

// What there is of the engine while it is loaded.
extern handlerton *engine;
extern Catalog *catalog;

// Used by the connection's own thread; also by one that commits for it.
class Session {
 public:
  // The connection's, made at its first use.
  static Session *of(THD *thd);
  ~Session() { esker_tx_free(transaction_); }

  // A statement begins to use a table: begins what has to be begun. 0, or an error that was told.
  int enter(THD *thd);

  esker_tx *transaction() const { return transaction_; }
  bool reads_latest() const { return isolation_ == ESKER_READ_COMMITTED; }

  // Goes up with each write: a cursor from before does not see it.
  ulonglong writes() const { return writes_; }
  void wrote() { writes_++; }

  // The transaction takes numbers of that counter: its next value is kept before it ends.
  void note(const std::shared_ptr<Counter> &counter);

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

  int begin(THD *thd);
  void end();
  int keep_counters();
  esker_tx *transaction_ = nullptr;
  bool is_prepared_ = false;
  int isolation_ = ESKER_SNAPSHOT;
  ulonglong writes_ = 0;
  bool is_in_statement_ = false;
  uint64_t statement_ = 0;  // the savepoint it began with
  std::vector<std::shared_ptr<Counter>> counters_;
};

// What a write is to survive, and how long a connection waits for a lock: by the settings.
uint32 durability();
ulonglong lock_wait_ms(THD *thd);

// Whether a table with foreign keys, which are not kept, is an error and not a warning.
bool refuses_foreign_keys(THD *thd);

}  // namespace esker

#endif
