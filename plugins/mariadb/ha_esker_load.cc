// Statements that bring many rows into an empty table: LOAD DATA, INSERT … SELECT, and what ALTER
// TABLE copies.
//
// A statement begins as any other. Once it has written so much that files are worth it, and if
// nobody else uses the table, it goes on with them, see table_load.h, and is bounded by the disk
// and no more by what one transaction may hold. Where somebody uses the table it goes on as it
// began.

#include "ha_esker.h"

#include "table_load.h"

#include "mdl.h"

using esker::catalog;
using esker::guarded;
using esker::TableLoad;

namespace {

// Of rows and entries that are written before.
constexpr size_t kWrittenBytes = 4 << 20;

// Whether a statement only adds rows, and is a transaction of its own.
bool adds_rows(THD *thd) {
  const LEX *lex = thd->lex;
  const bool is_load = lex->sql_command == SQLCOM_LOAD || lex->sql_command == SQLCOM_INSERT_SELECT;
  return is_load && lex->duplicates == DUP_ERROR && !lex->ignore &&
         !thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN) &&
         thd->locked_tables_mode <= LTM_LOCK_TABLES;
}

// Has the statement alone use the table, if nobody else does now. It keeps the lock until it ends.
bool use_alone(THD *thd, MDL_ticket *ticket) {
  Dummy_error_handler nothing_told;
  thd->push_internal_handler(&nothing_told);
  const bool failed = thd->mdl_context.upgrade_shared_lock(ticket, MDL_EXCLUSIVE, 0);
  thd->pop_internal_handler();
  return !failed;
}

}  // namespace

void ha_esker::start_bulk_insert(ha_rows, uint) {
  guarded([&] {
    THD *thd = ha_thd();
    is_bulk_ = is_private_ ||
               (esker::loads_files(thd) && adds_rows(thd) && !expires_ && !table->triggers &&
                !share_->record.is_temporary && table->mdl_ticket && is_empty());
    bulk_bytes_ = 0;
    return 0;
  });
}

int ha_esker::end_bulk_insert() {
  const int error = end_load(ha_thd()->is_error() || thd_kill_level(ha_thd()));
  if (error) my_errno = error;
  return error;
}

// Of a table that nobody else knows yet.
int ha_esker::extra(ha_extra_function what) {
  THD *thd = ha_thd();
  switch (what) {
    case HA_EXTRA_BEGIN_COPY:
      // What CREATE … SELECT reads within a transaction may be older than the table's record.
      is_private_ = esker::loads_files(thd) && !expires_ && !share_->record.is_temporary &&
                    (thd->lex->sql_command != SQLCOM_CREATE_TABLE ||
                     !thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN));
      is_bulk_ = is_private_;
      bulk_bytes_ = 0;
      return 0;
    case HA_EXTRA_END_COPY:
      return end_load(thd->is_error());
    case HA_EXTRA_ABORT_COPY:
      return end_load(true);
    default:
      return 0;
  }
}

bool ha_esker::is_empty() {
  esker_iter *iter = nullptr;
  int code = esker_iter_new(share_->keyspace, nullptr, nullptr, 0, nullptr, 0, 0, &iter);
  if (!code) code = esker_iter_seek_to_first(iter);
  esker_iter_free(iter);
  return code == ESKER_NOT_FOUND;
}

// A row was written that takes so much: the next ones may go into files.
int ha_esker::note_bulk(size_t bytes) {
  bulk_bytes_ += bytes;
  if (bulk_bytes_ < kWrittenBytes) return 0;
  is_bulk_ = false;
  THD *thd = ha_thd();
  MDL_ticket *ticket = is_private_ ? nullptr : table->mdl_ticket;
  enum_mdl_type kind = MDL_EXCLUSIVE;
  if (ticket) {
    kind = ticket->get_type();
    if (!use_alone(thd, ticket)) return 0;
    // What is prepared, and not ended, has locks of its own.
    esker_tx_set_lock_timeout(transaction(), 0);
    const int code = esker_tx_lock_keyspace(transaction(), share_->keyspace, ESKER_EXCLUSIVE);
    esker_tx_set_lock_timeout(transaction(), esker::lock_wait_ms(thd));
    if (code || !is_empty()) return 0;
  }
  if (table->found_next_number_field && !table->s->next_number_keypart) {
    if (const int error = prepare_counter()) return error;
  }
  auto load = std::make_shared<TableLoad>(thd, catalog, share_);
  if (const int error = load->begin()) return error;
  share_->load = load;
  session_->note(share_->counter);
  const bool is_lent = ticket && thd->locked_tables_mode == LTM_LOCK_TABLES;
  session_->at_end([load, ticket, kind, is_lent](bool is_committed) {
    load->end(is_committed);
    if (is_lent) ticket->downgrade_lock(kind);
  });
  load_ = load;
  return load->add_written(transaction());
}

int ha_esker::load_row(const uchar *record, const std::string &row_key, const std::string &row) {
  const uint primary = table->s->primary_key;
  int error = load_->add_row(row_key, row);
  if (error == HA_ERR_FOUND_DUPP_KEY) duplicate_ = primary;
  for (uint index = 0; index < keys_.size() && !error; index++) {
    if (index == primary) continue;
    std::string key, value;
    split_entry(index, record, row_key, &key, &value);
    error = load_->add_entry(key, value);
  }
  row_key_ = row_key;
  if (error) return error;
  return table->next_number_field && record == table->record[0] ? note_counter() : 0;
}

int ha_esker::end_load(bool is_unwanted) {
  is_bulk_ = is_private_ = false;
  if (!load_) return 0;
  const std::shared_ptr<TableLoad> load = std::move(load_);
  load_ = nullptr;
  return guarded([&] {
    const int error = is_unwanted ? 0 : load->finish(transaction());
    if (error == HA_ERR_FOUND_DUPP_KEY) {
      find_duplicate(*load);
      session_->note_duplicate(ha_thd(), duplicate_);
    }
    // Before the server ends the transaction: it commits what an ALTER copied, also after an error.
    if (error || is_unwanted) load->end(false);
    return error;
  });
}

// Which key came twice, with the row in the server's record, so that it is told.
void ha_esker::find_duplicate(const TableLoad &load) {
  const std::string &key = load.duplicate();
  entry_ = key + load.duplicate_value();
  const std::string &entry = entry_;
  const uchar *bytes = reinterpret_cast<const uchar *>(entry.data());
  const ulonglong number = esker::read_number(bytes, esker::KeyCodec::kIndexBytes);
  std::string row_key = key;
  duplicate_ = table->s->primary_key;
  for (uint index = 0; index < keys_.size(); index++) {
    if (is_rows(index) || keys_[index]->number() != number) continue;
    duplicate_ = index;
    row_key.clear();
    if (!keys_[index]->cut(bytes, entry.size(), &starts_) ||
        !keys_[index]->append_primary(*row_keys_, bytes, starts_, &row_key)) {
      return;
    }
  }
  size_t size = 0;
  if (esker_get(share_->keyspace, nullptr, row_key.data(), row_key.size(), 0, found_)) {
    rows_->unpack(bytes + key.size(), entry.size() - key.size(), table->record[0]);
    return;
  }
  const void *row = esker_value_data(found_, &size);
  rows_->unpack(static_cast<const uchar *>(row), size, table->record[0]);
}
