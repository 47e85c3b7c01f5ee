// One transaction per connection, and what the server asks of it.

#include "session.h"

#include "events.h"

#include <algorithm>
#include <cstring>

namespace esker {

handlerton *engine;
Catalog *catalog;

namespace {

Session *existing(THD *thd) { return static_cast<Session *>(thd_get_ha_data(thd, engine)); }

bool has_several_statements(THD *thd) {
  return thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN);
}

// The server's name of a transaction: format (8 bytes), lengths of its two parts (1 each), parts.
std::string id_of(const XID &xid) {
  std::string id;
  for (int shift = 56; shift >= 0; shift -= 8) {
    id.push_back(static_cast<char>(static_cast<ulonglong>(xid.formatID) >> shift));
  }
  id.push_back(static_cast<char>(xid.gtrid_length));
  id.push_back(static_cast<char>(xid.bqual_length));
  id.append(xid.data, static_cast<size_t>(xid.gtrid_length + xid.bqual_length));
  return id;
}

bool xid_of(const uchar *id, size_t length, XID *xid) {
  constexpr size_t head = 10;
  if (length < head || length != head + id[8] + id[9]) return false;
  if (id[8] + id[9] > XIDDATASIZE) return false;
  ulonglong format = 0;
  for (int at = 0; at < 8; at++) format = format << 8 | id[at];
  const char *parts = reinterpret_cast<const char *>(id) + head;
  xid->set(static_cast<long>(format), parts, id[8], parts + id[8], id[9]);
  return true;
}

int list_one(void *state, const void *id, size_t length, uint64_t, uint64_t) {
  XID xid;
  if (xid_of(static_cast<const uchar *>(id), length, &xid)) {
    static_cast<std::vector<XID> *>(state)->push_back(xid);
  }
  return 0;
}

// The answers that the standard of XA has for this; the server's headers do not name them.
constexpr int kNoSuchTransaction = -4;
constexpr int kResourceFailed = -3;

// The server asks every engine, and most have no part in the transaction.
int told_by_xid(int code) {
  if (code == ESKER_INVALID) return kNoSuchTransaction;
  if (code) sql_print_error("ESKER: ending a prepared transaction: %s", esker_errmsg());
  return code ? kResourceFailed : 0;
}

}  // namespace

Session *Session::of(THD *thd) {
  Session *session = existing(thd);
  if (!session) {
    session = new Session;
    thd_set_ha_data(thd, engine, session);
  }
  return session;
}

int Session::begin(THD *thd, bool locks) {
  if (transaction_) return 0;
  const int level = thd_tx_isolation(thd);
  const bool is_alone = !has_several_statements(thd);
  const bool is_read = thd->lex->sql_command == SQLCOM_SELECT && !locks;
  is_serializable_ = level == ISO_SERIALIZABLE && !is_alone;
  isolation_ = level <= ISO_READ_COMMITTED || is_serializable_ || (is_alone && !is_read)
                   ? ESKER_READ_COMMITTED
                   : ESKER_SNAPSHOT;
  char owner[40];
  snprintf(owner, sizeof owner, "connection %lu", thd_get_thread_id(thd));
  is_in_statement_ = false;
  known_changes_ = catalog->changes();
  int code = esker_tx_begin(catalog->db(), isolation_, ESKER_LOCKING, lock_wait_ms(thd), owner,
                            &transaction_);
  std::lock_guard<std::mutex> turn(waits_);
  if (!code) code = esker_tx_interrupter(transaction_, &interrupter_);
  // A KILL that came before there was anything to interrupt is told here.
  is_interrupted_ = !code && thd_kill_level(thd);
  if (is_interrupted_) esker_interrupt(interrupter_);
  return error(thd, code);
}

void Session::end(bool is_committed) {
  esker_tx_free(transaction_);
  transaction_ = nullptr;
  is_prepared_ = false;
  is_ordered_ = false;
  has_moment_ = false;
  query_ = 0;
  writes_++;
  for (const uint32 number : dropped_) {
    if (catalog->drop_keyspace(number)) {
      sql_print_error("ESKER: dropping a temporary table: %s", esker_errmsg());
    }
  }
  dropped_.clear();
  for (const AtEnd &call : at_end_) {
    guarded([&] {
      call(is_committed);
      return 0;
    });
  }
  at_end_.clear();
  std::lock_guard<std::mutex> turn(waits_);
  esker_interrupter_free(interrupter_);
  interrupter_ = nullptr;
}

int Session::wait_for_writers(THD *thd, const std::string &name) {
  TableRecord record;
  if (const int error = catalog->find(name, &record)) return error;
  if (record.is_temporary) return 0;
  esker_keyspace *keyspace = nullptr;
  if (const int error = catalog->open_table(record, &keyspace)) return error;
  esker_tx *made = nullptr;
  int code = ESKER_OK;
  if (!transaction_) {
    code = esker_tx_begin(catalog->db(), ESKER_READ_COMMITTED, ESKER_LOCKING, lock_wait_ms(thd),
                          "a change of a table", &made);
  }
  // A lock that stayed would keep out files that an ALTER has taken in.
  esker_tx *transaction = made ? made : transaction_;
  uint64_t place = 0;
  if (!code) code = esker_tx_savepoint(transaction, &place);
  if (!code) code = esker_tx_lock_keyspace(transaction, keyspace, ESKER_EXCLUSIVE);
  const int answer = error(thd, code);
  if (place) esker_tx_rollback_to(transaction, place);
  if (place) esker_tx_release(transaction, place);
  esker_tx_free(made);
  esker_keyspace_free(keyspace);
  return answer;
}

int Session::drop(THD *thd, const std::string &name) {
  if (const int error = wait_for_writers(thd, name)) return error;
  uint32 number;
  if (const int error = catalog->forget(name, &number)) return error;
  crash_at("after drop");
  if (!transaction_) return catalog->drop_keyspace(number);
  dropped_.push_back(number);
  return 0;
}

int Session::drop_partitions(THD *thd, const std::string &name) {
  if (!access((name + reg_ext).c_str(), F_OK)) return HA_ERR_NO_SUCH_TABLE;
  std::vector<std::string> tables;
  if (const int code = catalog->names(&tables)) return error(thd, code);
  int answer = HA_ERR_NO_SUCH_TABLE;
  for (const std::string &table : tables) {
    if (table.compare(0, name.size() + strlen(kPartition), name + kPartition)) continue;
    answer = drop(thd, table);
    if (answer) return answer;
  }
  return answer;
}

bool Session::begins_check(THD *thd) {
  const bool is_first = checked_ != thd->query_id;
  checked_ = thd->query_id;
  return is_first;
}

void Session::interrupt() {
  std::lock_guard<std::mutex> turn(waits_);
  if (!interrupter_) return;
  is_interrupted_ = true;
  esker_interrupt(interrupter_);
}

// What a statement needs that is not the first of its transaction: the setting of the wait may be
// another, and one before may have been killed.
int Session::begin_statement(THD *thd) {
  if (query_ == thd->query_id) return ESKER_OK;
  query_ = thd->query_id;
  {
    std::lock_guard<std::mutex> turn(waits_);
    if (is_interrupted_ && !thd_kill_level(thd)) {
      is_interrupted_ = false;
      if (const int code = esker_tx_clear_interrupt(transaction_)) return code;
    }
  }
  return esker_tx_set_lock_timeout(transaction_, lock_wait_ms(thd));
}

// What is kept for its moment may go.
int Session::end_statement() {
  is_in_statement_ = false;
  if (!has_moment_) return ESKER_OK;
  has_moment_ = false;
  return esker_tx_clear_snapshot(transaction_);
}

int Session::take_moment() {
  if (isolation_ != ESKER_READ_COMMITTED || is_serializable_ || has_moment_) return ESKER_OK;
  has_moment_ = true;
  return esker_tx_set_snapshot(transaction_);
}

void Session::note(const std::shared_ptr<Counter> &counter) {
  if (!counters_.empty() && counters_.back() == counter) return;
  if (std::find(counters_.begin(), counters_.end(), counter) == counters_.end()) {
    counters_.push_back(counter);
  }
}

// Before the transaction's own writes, so that these never survive without them.
int Session::keep_counters() {
  for (const auto &counter : counters_) {
    if (const int code = counter->keep()) return code;
  }
  counters_.clear();
  return ESKER_OK;
}

int Session::enter(THD *thd, const Use &use) {
  if (const int failure = begin(thd, use.locks)) return failure;
  trans_register_ha(thd, false, engine, 0);
  int code = begin_statement(thd);
  if (!code && has_several_statements(thd)) {
    trans_register_ha(thd, true, engine, 0);
    if (!is_in_statement_) code = esker_tx_savepoint(transaction_, &statement_);
    is_in_statement_ = !code;
  }
  // It would find the table empty, or half of it, at its moment.
  if (!code && isolation_ == ESKER_SNAPSHOT && use.changed > known_changes_) {
    return HA_ERR_TABLE_DEF_CHANGED;
  }
  if (!code && is_serializable_ && use.reads) {
    code = esker_tx_lock_keyspace(transaction_, use.table, ESKER_SHARED);
  }
  return error(thd, code);
}

int Session::error(THD *thd, int code) {
  if (code == ESKER_DEADLOCK || code == ESKER_CONFLICT) {
    if (code == ESKER_DEADLOCK) events.note_deadlock(thd_get_thread_id(thd), esker_errmsg());
    thd->mark_transaction_to_rollback(true);
  }
  const int number = handler_error(code);
  if (number == HA_ERR_INTERNAL_ERROR) sql_print_error("ESKER: %s", esker_errmsg());
  return number;
}

int Session::commit(handlerton *, THD *thd, bool all) {
  Session *session = existing(thd);
  if (!session || !session->transaction_) return 0;
  if (!all && has_several_statements(thd)) {
    if (!session->is_in_statement_) return 0;
    int code = session->end_statement();
    if (!code) code = esker_tx_release(session->transaction_, session->statement_);
    return session->error(thd, code);
  }
  crash_at("before commit");
  int code = session->keep_counters();
  if (!code && session->is_ordered_) {
    // What was prepared survives as it is, and the binary log decides: nothing has to be synced.
    const uint32 wanted = mysql_bin_log.is_open() ? ESKER_BUFFERED : durability();
    code = esker_tx_finish(session->transaction_, wanted);
  } else if (!code) {
    code = esker_tx_commit(session->transaction_, durability());
  }
  const int failure = code ? session->error(thd, code) : 0;
  crash_at("after commit");
  // What is committed in order is so, though its sync may have failed.
  session->end(!code || session->is_ordered_);
  return failure;
}

int Session::rollback(handlerton *, THD *thd, bool all) {
  Session *session = existing(thd);
  if (!session || !session->transaction_) return 0;
  if (!all && has_several_statements(thd)) {
    if (!session->is_in_statement_) return 0;
    session->writes_++;
    int code = session->end_statement();
    if (!code) code = esker_tx_rollback_to(session->transaction_, session->statement_);
    if (!code) code = esker_tx_release(session->transaction_, session->statement_);
    return session->error(thd, code);
  }
  const int kept = session->keep_counters();
  int failure = kept ? session->error(thd, kept) : 0;
  // One that failed is over already; only what was prepared has anything to undo.
  if (session->is_prepared_) {
    const int code = esker_tx_rollback(session->transaction_, durability());
    if (code) failure = session->error(thd, code);
  }
  session->end();
  return failure;
}

int Session::prepare(handlerton *, THD *thd, bool all) {
  return guarded([&] {
    Session *session = existing(thd);
    if (!session || !session->transaction_) return 0;
    if (!all && has_several_statements(thd)) return commit(engine, thd, false);
    XID xid;
    thd_get_xid(thd, reinterpret_cast<MYSQL_XID *>(&xid));
    const std::string id = id_of(xid);
    crash_at("before prepare");
    int code = session->keep_counters();
    if (!code) code = esker_tx_prepare(session->transaction_, id.data(), id.size());
    crash_at("after prepare");
    session->is_prepared_ = code == ESKER_OK;
    return code ? session->error(thd, code) : 0;
  });
}

// In the order of the server's log, one after the other. The log has it: what cannot be committed
// now is committed by the next start, which decides by the log.
void Session::commit_ordered(handlerton *, THD *thd, bool all) {
  Session *session = existing(thd);
  if (!session || !session->is_prepared_) return;
  if (!all && has_several_statements(thd)) return;
  if (esker_tx_commit_ordered(session->transaction_)) {
    sql_print_error("ESKER: a commit that is in the server's log failed, and the server ends, to "
                    "do it when it starts again: %s", esker_errmsg());
    abort();
  }
  session->is_ordered_ = true;
  crash_at("after commit ordered");
}

// Told when all that is committed by now survives a power cut: the server may then drop its log.
void Session::commit_checkpoint_request(void *cookie) {
  const auto tell = [](void *state, int code) {
    if (!code) commit_checkpoint_notify_ha(state);
  };
  const int code = esker_db_notify_when_durable(catalog->db(), tell, cookie);
  if (code) sql_print_error("ESKER: syncing the log: %s", esker_errmsg());
}

// The server holds the lock under which the session is taken away.
void Session::kill_query(handlerton *, THD *thd, thd_kill_levels) {
  if (Session *session = existing(thd)) session->interrupt();
}

// The server asks again as long as its list was filled.
int Session::recover(handlerton *, XID *list, uint length) {
  return guarded([&] {
    static std::vector<XID> left;
    static bool is_listed = false;
    if (!is_listed) {
      if (esker_db_prepared(catalog->db(), list_one, &left)) {
        sql_print_error("ESKER: listing prepared transactions: %s", esker_errmsg());
        return 0;
      }
      is_listed = true;
    }
    uint given = 0;
    for (; given < length && !left.empty(); given++, left.pop_back()) list[given] = left.back();
    if (given < length) is_listed = false;
    return static_cast<int>(given);
  });
}

int Session::commit_by_xid(handlerton *, XID *xid) {
  const auto end = [&] {
    const std::string id = id_of(*xid);
    return told_by_xid(esker_db_commit_prepared(catalog->db(), id.data(), id.size(), ESKER_SYNC));
  };
  return guarded(end, kResourceFailed);
}

int Session::rollback_by_xid(handlerton *, XID *xid) {
  const auto end = [&] {
    const std::string id = id_of(*xid);
    return told_by_xid(esker_db_rollback_prepared(catalog->db(), id.data(), id.size(), ESKER_SYNC));
  };
  return guarded(end, kResourceFailed);
}

int Session::savepoint_set(handlerton *, THD *thd, void *place) {
  Session *session = existing(thd);
  if (const int failure = session->begin(thd, true)) return failure;
  uint64_t number = 0;
  const int code = esker_tx_savepoint(session->transaction_, &number);
  memcpy(place, &number, sizeof number);
  return session->error(thd, code);
}

int Session::savepoint_rollback(handlerton *, THD *thd, void *place) {
  Session *session = existing(thd);
  uint64_t number;
  memcpy(&number, place, sizeof number);
  session->writes_++;
  return session->error(thd, esker_tx_rollback_to(session->transaction_, number));
}

int Session::savepoint_release(handlerton *, THD *thd, void *place) {
  Session *session = existing(thd);
  uint64_t number;
  memcpy(&number, place, sizeof number);
  return session->error(thd, esker_tx_release(session->transaction_, number));
}

int Session::start_snapshot(handlerton *, THD *thd) {
  return guarded([&] {
    Session *session = of(thd);
    if (const int failure = session->begin(thd, false)) return failure;
    trans_register_ha(thd, true, engine, 0);
    if (session->isolation_ == ESKER_SNAPSHOT) {
      return session->error(thd, esker_tx_set_snapshot(session->transaction_));
    }
    push_warning(thd, Sql_condition::WARN_LEVEL_WARN, HA_ERR_UNSUPPORTED,
                 "ESKER: WITH CONSISTENT SNAPSHOT counts under REPEATABLE READ alone");
    return 0;
  });
}

// What was prepared stays so, and is ended by its name.
int Session::close_connection(handlerton *, THD *thd) {
  Session *session = existing(thd);
  thd_set_ha_data(thd, engine, nullptr);
  delete session;
  return 0;
}

void Session::register_calls(handlerton *to) {
  to->commit = commit;
  to->rollback = rollback;
  to->prepare = prepare;
  to->recover = recover;
  to->commit_by_xid = commit_by_xid;
  to->rollback_by_xid = rollback_by_xid;
  to->savepoint_offset = sizeof(uint64_t);
  to->savepoint_set = savepoint_set;
  to->savepoint_rollback = savepoint_rollback;
  to->savepoint_release = savepoint_release;
  to->start_consistent_snapshot = start_snapshot;
  to->close_connection = close_connection;
  to->commit_ordered = commit_ordered;
  to->commit_checkpoint_request = commit_checkpoint_request;
  to->kill_query = kill_query;
}

}  // namespace esker
