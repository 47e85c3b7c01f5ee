// One open table: how it is made, opened and described.

#include "ha_esker.h"

#include "table_load.h"

#include <algorithm>

using esker::catalog;
using esker::guarded;
using esker::KeyCodec;
using esker::Session;
using esker::Share;

namespace {

constexpr size_t kPlaceLengthBytes = 2;

// Whether the statement looks for rows in a table that it writes to.
bool looks_for_rows(THD *thd) {
  switch (thd->lex->sql_command) {
    case SQLCOM_INSERT:
    case SQLCOM_INSERT_SELECT:
    case SQLCOM_REPLACE:
    case SQLCOM_REPLACE_SELECT:
    case SQLCOM_LOAD:
      return false;
    default:
      return true;
  }
}

// What it reads is kept from writers by the server's own lock; one of ours would keep out the files
// that it makes.
bool alters(THD *thd) {
  const enum_sql_command command = thd->lex->sql_command;
  return command == SQLCOM_ALTER_TABLE || command == SQLCOM_CREATE_INDEX ||
         command == SQLCOM_DROP_INDEX;
}

bool has_foreign_keys(const Alter_info &wanted) {
  for (const Key &key : wanted.key_list) {
    if (key.type == Key::FOREIGN_KEY) return true;
  }
  return false;
}

// Of MyISAM and Aria. An error where it is asked for and the session is strict; a table that comes
// from such an engine has it with a warning.
bool has_other_row_format(const HA_CREATE_INFO &info) {
  return info.row_type == ROW_TYPE_FIXED || info.row_type == ROW_TYPE_PAGE;
}

void warn(THD *thd, const char *what) {
  push_warning_printf(thd, Sql_condition::WARN_LEVEL_WARN, ER_ILLEGAL_HA_CREATE_OPTION,
                      ER_THD(thd, ER_ILLEGAL_HA_CREATE_OPTION), "ESKER", what);
}

int refuse(const char *what) {
  my_error(ER_ILLEGAL_HA_CREATE_OPTION, MYF(0), "ESKER", what);
  return HA_WRONG_CREATE_OPTION;
}

}  // namespace

Share::~Share() {
  if (const auto going_on = load.lock()) going_on->forget_share();
  esker_keyspace_free(keyspace);
  thr_lock_delete(&lock);
}

// What is not said: a statement in the binary log (no gap is locked).
handler::Table_flags ha_esker::table_flags() const {
  return HA_BINLOG_ROW_CAPABLE | HA_REC_NOT_IN_SEQ | HA_NULL_IN_KEY | HA_CAN_INDEX_BLOBS |
         HA_PRIMARY_KEY_REQUIRED_FOR_POSITION | HA_TABLE_SCAN_ON_INDEX | HA_REUSES_FILE_NAMES |
         HA_REQUIRES_KEY_COLUMNS_FOR_DELETE | HA_CAN_SQL_HANDLER | HA_CAN_VIRTUAL_COLUMNS |
         HA_CRASH_SAFE | HA_CAN_SKIP_LOCKED | HA_CAN_GEOMETRY |
         // Without it, the server does not ask an index that it reads alone for those columns, and
         // its sorts would take what the record had before.
         (gives_row_keys_ ? HA_PRIMARY_KEY_IN_READ_INDEX : 0);
}

// The server asks part by part which columns an index gives back, and reads the index alone where
// it has all that is wanted. The rest of the primary key counts where all of it is given back.
ulong ha_esker::index_flags(uint index, uint part, bool has_all) const {
  ulong flags = HA_READ_NEXT | HA_READ_PREV | HA_READ_ORDER | HA_READ_RANGE;
  flags |= index == table_share->primary_key ? HA_CLUSTERED_INDEX : HA_DO_INDEX_COND_PUSHDOWN;
  const KEY &key = table_share->key_info[index];
  const bool is_rest = part >= key.user_defined_key_parts;
  const uint last = is_rest ? key.ext_key_parts - 1 : part;
  for (uint at = has_all || is_rest ? 0 : part; at <= last; at++) {
    // The parts' own pointers to their columns may not be filled in yet.
    const Field *field = table_share->field[key.key_part[at].fieldnr - 1];
    if (!KeyCodec::is_restorable(field, key.key_part[at].length)) return flags;
  }
  return flags | HA_KEYREAD_ONLY;
}

int ha_esker::create(const char *name, TABLE *form, HA_CREATE_INFO *info) {
  return guarded([&] {
    for (uint index = 0; index < form->s->keys; index++) {
      const KEY &key = form->key_info[index];
      for (uint part = 0; part < key.user_defined_key_parts; part++) {
        const Field *field = form->field[key.key_part[part].fieldnr - 1];
        if (const char *what = KeyCodec::refusal(field)) return refuse(what);
      }
    }
    THD *thd = ha_thd();
    if (has_foreign_keys(thd->lex->alter_info)) {
      if (esker::refuses_foreign_keys(thd)) return refuse("FOREIGN KEY");
      warn(thd, "FOREIGN KEY");
    }
    if (has_other_row_format(*info)) {
      const bool is_asked = info->used_fields & HA_CREATE_USED_ROW_FORMAT;
      if (is_asked && thd->is_strict_mode()) return refuse("ROW_FORMAT=FIXED or PAGE");
      warn(thd, "ROW_FORMAT=FIXED or PAGE");
    }
    std::vector<std::string> indexes;
    for (uint at = 0; at < form->s->keys; at++) indexes.push_back(form->key_info[at].name.str);
    const int error = catalog->create(name, {indexes, info->tmp_table(),
                                             info->auto_increment_value,
                                             esker::settings_of(info->option_struct)});
    if (error == HA_WRONG_CREATE_OPTION) {
      my_printf_error(ER_ILLEGAL_HA_CREATE_OPTION, "ESKER: %s", MYF(0), esker_errmsg());
    }
    if (!error && !info->tmp_table()) Session::of(thd)->changed_tables();
    return error;
  });
}

int ha_esker::delete_table(const char *name) {
  return guarded([&] {
    THD *thd = ha_thd();
    Session *session = Session::of(thd);
    const int error = session->drop(thd, name);
    return error == HA_ERR_NO_SUCH_TABLE ? session->drop_partitions(thd, name) : error;
  });
}

int ha_esker::rename_table(const char *from, const char *to) {
  return guarded([&] {
    THD *thd = ha_thd();
    // Else a copy would take its place, without what is prepared.
    if (const int error = Session::of(thd)->wait_for_writers(thd, from)) return error;
    return catalog->rename(from, to);
  });
}

int ha_esker::truncate() {
  return guarded([&] {
    close_cursor();
    THD *thd = ha_thd();
    Session *session = Session::of(thd);
    if (const int error = session->wait_for_writers(thd, share_->name)) return error;
    if (const int error = catalog->truncate(share_->name)) return error;
    if (const int error = catalog->find(share_->name, &share_->record)) return error;
    esker_keyspace_free(share_->keyspace);
    share_->keyspace = nullptr;
    share_->counter = catalog->counter(share_->record);
    if (!share_->record.is_temporary) session->changed_tables();
    return catalog->open_table(share_->record, &share_->keyspace);
  });
}

int ha_esker::optimize(THD *, HA_CHECK_OPT *) {
  return esker_compact(share_->keyspace, nullptr, 0, nullptr, 0) ? HA_ADMIN_FAILED : HA_ADMIN_OK;
}

// What all openings share, made by the first of them.
int ha_esker::open_share(const char *name) {
  share_ = static_cast<Share *>(get_ha_share_ptr());
  if (share_) return 0;
  auto made = std::make_unique<Share>();
  made->name = name;
  if (const int error = catalog->find(name, &made->record)) return error;
  if (const int error = catalog->open_table(made->record, &made->keyspace)) return error;
  if (made->record.indexes.size() != table->s->keys + 1) {
    sql_print_error("ESKER: %s has %u keys, but the catalogue knows %zu", name, table->s->keys,
                    made->record.indexes.size() - 1);
    return HA_ERR_CRASHED;
  }
  made->counter = catalog->counter(made->record);
  share_ = made.release();
  set_ha_share_ptr(share_);
  return 0;
}

int ha_esker::open(const char *name, int, uint) {
  lock_shared_ha_data();
  const int error = guarded([&] { return open_share(name); });
  unlock_shared_ha_data();
  if (error) return error;
  thr_lock_data_init(&share_->lock, &lock_, nullptr);
  return guarded([&] { return make_codecs(); });
}

int ha_esker::make_codecs() {
  const esker::TableRecord &record = share_->record;
  const uint primary = table->s->primary_key;
  rows_ = std::make_unique<esker::RowCodec>(table, record.added, record.dropped);
  row_keys_ = std::make_unique<KeyCodec>(table, primary, record.indexes[0].number);
  keys_.clear();
  for (uint index = 0; index < table->s->keys; index++) {
    const char *name = table->key_info[index].name.str;
    const uint32 number = index == primary ? record.indexes[0].number : record.index(index, name);
    if (!number) {
      sql_print_error("ESKER: the catalogue knows no key %s of %s", name, share_->name.c_str());
      return HA_ERR_CRASHED;
    }
    keys_.push_back(std::make_unique<KeyCodec>(table, index, number));
  }
  scratch_.assign(table->s->rec_buff_length, 0);
  ref_length = static_cast<uint>(row_keys_->length_max() + kPlaceLengthBytes);
  const ha_table_option_struct *options = table->s->option_struct;
  expires_ = options && options->ttl;
  gives_row_keys_ = primary != MAX_KEY && row_keys_->is_restorable();
  // An update of the columns that a scan follows would meet its own rows again.
  key_used_on_scan = primary;
  stats.block_size = 4096;
  return begin_statistics();
}

int ha_esker::close() {
  close_cursor();
  esker_value_clear(found_);
  return 0;
}

const KeyCodec &ha_esker::codec(uint index) const {
  return is_rows(index) ? *row_keys_ : *keys_[index];
}

int ha_esker::enter(THD *thd, thr_lock_type kind, bool writes) {
  return guarded([&] {
    session_ = Session::of(thd);
    writes |= kind >= TL_FIRST_WRITE;
    locks_ = writes ? kExclusive : kind == TL_READ_WITH_SHARED_LOCKS ? kShared : kNone;
    skips_locked_ = is_locking() && table->reginfo.skip_locked;
    looks_first_ = false;
    forget_lock();
    leave_cursor();
    const esker::TableRecord &record = share_->record;
    const bool looks = (!writes || looks_for_rows(thd)) && !alters(thd);
    const int error = session_->enter(thd, {share_->keyspace, looks, is_locking(),
                                            record.is_temporary ? 0 : record.changed});
    if (error) return error;
    notes_locks_ = is_locking() && session_->reads_latest();
    gives_back_ = notes_locks_ && thd_tx_isolation(thd) <= ISO_READ_COMMITTED;
    return 0;
  });
}

int ha_esker::external_lock(THD *thd, int kind) {
  return kind == F_UNLCK ? 0 : enter(thd, lock_.type, kind == F_WRLCK);
}

int ha_esker::start_stmt(THD *thd, thr_lock_type kind) { return enter(thd, kind, false); }

// Rows are locked by the store; of the table only what LOCK TABLES asks for.
THR_LOCK_DATA **ha_esker::store_lock(THD *thd, THR_LOCK_DATA **to, thr_lock_type kind) {
  if (kind != TL_IGNORE && lock_.type == TL_UNLOCK) {
    const bool is_explicit = thd_in_lock_tables(thd);
    if (kind >= TL_WRITE_CONCURRENT_INSERT && kind <= TL_WRITE && !is_explicit &&
        !thd_tablespace_op(thd)) {
      kind = TL_WRITE_ALLOW_WRITE;
    }
    if (kind == TL_READ_NO_INSERT && !is_explicit) kind = TL_READ;
    // Which rows are locked is the store's affair.
    if (kind == TL_WRITE_SKIP_LOCKED) kind = TL_WRITE_ALLOW_WRITE;
    if (kind == TL_READ_SKIP_LOCKED) kind = TL_READ_WITH_SHARED_LOCKS;
    lock_.type = kind;
  }
  *to++ = &lock_;
  return to;
}

// Of what the server has no words for itself.
bool ha_esker::get_error_message(int error, String *text) {
  if (esker::has_no_words(error)) {
    text->append(esker_errmsg(), strlen(esker_errmsg()));
  }
  return false;
}

int ha_esker::reset() {
  end_load(true);
  close_cursor();
  list_ = {};
  ranges_.clear();
  esker_value_clear(found_);
  return 0;
}

// The highest value of the counter's column that anyone committed, 0 if there is none.
int ha_esker::find_last_counter(ulonglong *last) {
  *last = 0;
  Field *field = table->found_next_number_field;
  const uint index = table->s->next_number_index;
  const KEY_PART_INFO &part = table->key_info[index].key_part[0];
  std::string lower, key, value;
  codec(index).append_number(&lower);
  const std::string upper = esker::successor(lower);
  esker_iter *iter = nullptr;
  int code = esker_iter_new(share_->keyspace, nullptr, lower.data(), lower.size(), upper.data(),
                            upper.size(), 0, &iter);
  if (!code) {
    code = part.key_part_flag & HA_REVERSE_SORT ? esker_iter_seek_to_first(iter)
                                                : esker_iter_seek_to_last(iter);
  }
  const void *from = nullptr;
  size_t key_size = 0, size = 0;
  if (!code) code = esker_iter_value(iter, &from, &size);
  if (!code) {
    value.assign(static_cast<const char *>(from), size);
    const auto *at = static_cast<const char *>(esker_iter_key(iter, &key_size));
    key.assign(at, key_size);
  }
  esker_iter_free(iter);
  if (code) return code == ESKER_NOT_FOUND ? 0 : esker::handler_error(code);
  if (!is_rows(index)) {
    std::string row_key;
    key += value;
    const uchar *bytes = reinterpret_cast<const uchar *>(key.data());
    if (!codec(index).cut(bytes, key.size(), &starts_) ||
        !codec(index).append_primary(*row_keys_, bytes, starts_, &row_key)) {
      return HA_ERR_CRASHED;
    }
    code = esker_get(share_->keyspace, nullptr, row_key.data(), row_key.size(), 0, found_);
    if (code) return code == ESKER_NOT_FOUND ? 0 : esker::handler_error(code);
    from = esker_value_data(found_, &size);
    value.assign(static_cast<const char *>(from), size);
  }
  if (const int error = unpack(scratch_.data(), value.data(), value.size())) return error;
  const ptrdiff_t offset = scratch_.data() - table->record[0];
  field->move_field_offset(offset);
  const longlong number = field->val_int();
  field->move_field_offset(-offset);
  if (number > 0 || field->flags & UNSIGNED_FLAG) *last = static_cast<ulonglong>(number);
  return 0;
}

int ha_esker::prepare_counter() {
  if (share_->counter->next()) return 0;
  ulonglong last = 0, kept = 0;
  if (table->s->next_number_keypart == 0) {
    if (const int error = find_last_counter(&last)) return error;
  }
  if (const int error = catalog->read_counter(share_->record.number, &kept)) return error;
  share_->counter->begin_at(
      std::max({last == ULONGLONG_MAX ? last : last + 1, kept, share_->record.counter}));
  return 0;
}

void ha_esker::get_auto_increment(ulonglong offset, ulonglong increment, ulonglong wanted,
                                  ulonglong *first, ulonglong *given) {
  if (table->s->next_number_keypart) {
    handler::get_auto_increment(offset, increment, wanted, first, given);
    return;
  }
  *first = ULONGLONG_MAX;
  guarded([&] {
    if (const int error = prepare_counter()) return error;
    session_->note(share_->counter);
    *first = share_->counter->take(offset, increment, wanted,
                                   table->next_number_field->get_max_int_value(), given);
    return 0;
  });
}

// A value that was given by hand raises the counter.
int ha_esker::note_counter() {
  if (table->s->next_number_keypart) return 0;
  const longlong number = table->next_number_field->val_int();
  if (number <= 0 && !(table->next_number_field->flags & UNSIGNED_FLAG)) return 0;
  if (const int error = prepare_counter()) return error;
  session_->note(share_->counter);
  share_->counter->raise(static_cast<ulonglong>(number));
  return 0;
}

int ha_esker::reset_auto_increment(ulonglong value) {
  return guarded([&] {
    share_->counter->forget();
    share_->record.counter = value;
    return catalog->set_counter(share_->name, value);
  });
}

void ha_esker::update_create_info(HA_CREATE_INFO *info) {
  if (info->used_fields & HA_CREATE_USED_AUTO || !table->found_next_number_field) return;
  if (!ha_esker::info(HA_STATUS_AUTO)) info->auto_increment_value = stats.auto_increment_value;
}
