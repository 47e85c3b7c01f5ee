// ALTER TABLE without a copy: what changes the definition alone, columns that come behind the
// others or go, and indexes.
//
// Rows stay as they are. A column that is added is not in them: the table's record says what they
// have in it. One that is dropped is in them still, and passed over. An index is built from the
// rows under a number of its own, sorted outside of any transaction, while others may read and
// nobody may write; nothing knows the number before the table's record has it. So the catalogue's
// one batch is the moment of the ALTER, for all partitions, and a crash leaves the table as before,
// or as after: the record has the definition's version, by which the server then chooses the
// definition to keep.

#include "ha_esker.h"

#include "sorted_load.h"

#include "sql_alter.h"
#include "sql_base.h"

#include <algorithm>
#include <cstring>

using esker::catalog;
using esker::DroppedColumn;
using esker::guarded;
using esker::KeyCodec;
using esker::RowCodec;
using esker::Session;
using esker::TableRecord;

namespace {

constexpr alter_table_operations kBuilds =
    ALTER_ADD_NON_UNIQUE_NON_PRIM_INDEX | ALTER_ADD_UNIQUE_INDEX;

// What the rows and the other indexes have no part in.
constexpr alter_table_operations kInstant =
    ALTER_COLUMN_NAME | ALTER_COLUMN_DEFAULT | ALTER_COLUMN_NULLABLE |
    ALTER_COLUMN_TYPE_CHANGE_BY_ENGINE | ALTER_CHANGE_CREATE_OPTION | ALTER_DROP_CHECK_CONSTRAINT |
    ALTER_PARTITIONED | ALTER_RENAME | ALTER_RENAME_INDEX | ALTER_INDEX_IGNORABILITY |
    ALTER_CHANGE_INDEX_COMMENT | ALTER_INDEX_ORDER | ALTER_COLUMN_INDEX_LENGTH |
    ALTER_ADD_STORED_BASE_COLUMN | ALTER_DROP_STORED_COLUMN | ALTER_STORED_COLUMN_ORDER |
    ALTER_ADD_VIRTUAL_COLUMN | ALTER_DROP_VIRTUAL_COLUMN | ALTER_VIRTUAL_COLUMN_ORDER |
    ALTER_VIRTUAL_GCOL_EXPR | ALTER_DROP_NON_UNIQUE_NON_PRIM_INDEX | ALTER_DROP_UNIQUE_INDEX;

// A row says in two bytes how many columns it has, and those that were dropped count.
constexpr size_t kColumnsMax = 0xffff;

// Of the table as a whole: what the server's own check asks.
constexpr uint32 kCopying = HA_CREATE_USED_CHARSET | HA_CREATE_USED_DEFAULT_CHARSET |
                            HA_CREATE_USED_PACK_KEYS | HA_CREATE_USED_CHECKSUM |
                            HA_CREATE_USED_MAX_ROWS;

// The place in the old definition of an index of the new one; MAX_KEY where it is to be built.
uint old_index(const TABLE *table, const Alter_inplace_info *wanted, const char *name) {
  for (uint at = 0; at < wanted->index_add_count; at++) {
    if (!strcmp(wanted->key_info_buffer[wanted->index_add_buffer[at]].name.str, name)) {
      return MAX_KEY;
    }
  }
  const char *old_name = name;
  for (size_t at = 0; at < wanted->rename_keys.size(); at++) {
    const auto &pair = wanted->rename_keys.at(at);
    if (!strcmp(pair.new_key->name.str, name)) old_name = pair.old_key->name.str;
  }
  for (uint at = 0; at < table->s->keys; at++) {
    if (!strcmp(table->key_info[at].name.str, old_name)) return at;
  }
  return MAX_KEY;
}

bool is_key_part(const TABLE *table, const Field *field) {
  for (uint index = 0; index < table->s->keys; index++) {
    const KEY &key = table->key_info[index];
    for (uint part = 0; part < key.user_defined_key_parts; part++) {
      if (key.key_part[part].fieldnr == field->field_index + 1) return true;
    }
  }
  return false;
}

// Whether the stored columns are such of before in the same order, and then new ones, which have
// the same value in each row that there is. Keys have a byte for NULL where a column may be it.
bool keeps_rows(const TABLE *table, TABLE *altered, Alter_info *wanted) {
  std::vector<Field *> before;
  for (Field **field = table->field; *field; field++) {
    if ((*field)->stored_in_db()) before.push_back(*field);
  }
  size_t next = 0;
  bool has_new = false;
  List_iterator_fast<Create_field> columns(wanted->create_list);
  for (Field **field = altered->field; *field; field++) {
    const Create_field *column = columns++;
    if (!column) return false;
    if (!(*field)->stored_in_db()) continue;
    if (column->field) {
      while (next < before.size() && column->field != before[next]) next++;
      if (has_new || next == before.size()) return false;
      const Field *old = before[next++];
      const bool is_other =
          old->real_maybe_null() != (*field)->real_maybe_null() ||
          (old->pack_length() != (*field)->pack_length() &&
           old->real_type() != MYSQL_TYPE_VARCHAR);
      if (is_other && is_key_part(table, old)) return false;
      continue;
    }
    has_new = true;
    if ((*field)->default_value || (*field)->vcol_info ||
        (*field)->has_default_now_unireg_check() || *field == altered->found_next_number_field) {
      return false;
    }
  }
  return true;
}

// Adds what the new definition has no more, so that rows of before can be read.
void note_dropped(const TABLE *table, Alter_info *wanted, const RowCodec &rows,
                  std::vector<DroppedColumn> *dropped) {
  for (Field **field = table->field; *field; field++) {
    if (!(*field)->stored_in_db()) continue;
    bool is_kept = false;
    List_iterator_fast<Create_field> columns(wanted->create_list);
    while (const Create_field *column = columns++) is_kept |= column->field == *field;
    if (is_kept) continue;
    DroppedColumn form = RowCodec::form_of(*field);
    form.place = rows.place_of(*field);
    dropped->push_back(form);
  }
  std::sort(dropped->begin(), dropped->end(),
            [](const DroppedColumn &left, const DroppedColumn &right) {
              return left.place < right.place;
            });
}

bool keeps_primary(const TABLE *table, const TABLE *altered, const Alter_inplace_info *wanted) {
  const uint primary = altered->s->primary_key;
  if (primary == MAX_KEY || table->s->primary_key == MAX_KEY) {
    return primary == table->s->primary_key;
  }
  return old_index(table, wanted, altered->key_info[primary].name.str) == table->s->primary_key;
}

// Whether each index that stays has the same parts of the primary key behind its own as before: it
// lacks those of which it has another length, and a text that becomes longer may be one of them.
bool keeps_rest(const TABLE *table, const TABLE *altered, const Alter_inplace_info *wanted) {
  for (uint index = 0; index < altered->s->keys; index++) {
    const uint old = old_index(table, wanted, altered->key_info[index].name.str);
    if (old == MAX_KEY) continue;
    if (KeyCodec::rest_of(altered, index) != KeyCodec::rest_of(table, old)) return false;
  }
  return true;
}

// What ALTER has to say of a key that came twice.
void tell_duplicate(TABLE *altered, uint index) {
  print_keydup_error(altered, &altered->key_info[index], MYF(0));
}

}  // namespace

// What one table, or partition, becomes.
class ha_esker::Alter : public inplace_alter_handler_ctx {
 public:
  // What is not done in time is done by the next start.
  ~Alter() override {
    guarded([&] {
      for (const uint32 index : change.built) catalog->clear_index(change.record.number, index);
      return 0;
    });
  }

  esker::Catalog::Altered change;
  std::shared_ptr<esker::Counter> counter;
};

bool ha_esker::check_if_incompatible_data(HA_CREATE_INFO *wanted, uint) {
  const auto compare = [&] {
    const bool is_same = esker::settings_of(wanted->option_struct) ==
                         esker::settings_of(table->s->option_struct);
    return is_same ? COMPATIBLE_DATA_YES : COMPATIBLE_DATA_NO;
  };
  return guarded(compare, COMPATIBLE_DATA_NO);
}

enum_alter_inplace_result ha_esker::check_if_supported_inplace_alter(TABLE *altered,
                                                                     Alter_inplace_info *wanted) {
  const HA_CREATE_INFO *options = wanted->create_info;
  const bool is_possible =
      !(wanted->handler_flags & ~(kInstant | kBuilds)) && !table->s->tmp_table &&
      !wanted->ignore && !wanted->error_if_not_empty && !altered->versioned(VERS_TIMESTAMP) &&
      !table->versioned(VERS_TIMESTAMP) && !options->sequence &&
      !(options->used_fields & kCopying) && table->s->row_type == options->row_type &&
      !check_if_incompatible_data(wanted->create_info, 0) &&
      !(options->used_fields & HA_CREATE_USED_AUTO &&
        wanted->handler_flags & ALTER_PARTITIONED) &&
      guarded([&] { return keeps_rows(table, altered, wanted->alter_info) ? 1 : 0; }, 0) &&
      rows_->columns() + altered->s->fields <= kColumnsMax &&
      keeps_primary(table, altered, wanted) &&
      guarded([&] { return keeps_rest(table, altered, wanted) ? 1 : 0; }, 0);
  if (!is_possible) return HA_ALTER_INPLACE_NOT_SUPPORTED;
  for (uint index = 0; index < altered->s->keys; index++) {
    const KEY &key = altered->key_info[index];
    for (uint part = 0; part < key.user_defined_key_parts; part++) {
      // The copy tells why.
      if (KeyCodec::refusal(altered->field[key.key_part[part].fieldnr - 1])) {
        return HA_ALTER_INPLACE_NOT_SUPPORTED;
      }
    }
  }
  return wanted->index_add_count ? HA_ALTER_INPLACE_NOCOPY_LOCK : HA_ALTER_INPLACE_INSTANT;
}

// A longer text, where its length takes as many bytes: a row says how long its own is.
bool ha_esker::can_convert_nocopy(const Field &field, const Column_definition &wanted) const {
  constexpr size_t short_max = 255;
  return field.real_type() == MYSQL_TYPE_VARCHAR &&
         wanted.type_handler() == field.type_handler() && wanted.charset == field.charset() &&
         wanted.length >= field.field_length &&
         (wanted.length <= short_max) == (field.field_length <= short_max) &&
         !wanted.compression_method() && !field.compression_method();
}

// Entries of an index over a longer text stay as they are, if it has all of the text, or as many
// characters as before.
Compare_keys ha_esker::compare_key_parts(const Field &field, const Column_definition &wanted,
                                         const KEY_PART_INFO &part,
                                         const KEY_PART_INFO &wanted_part) const {
  if (field.is_equal(wanted) || !can_convert_nocopy(field, wanted)) {
    return handler::compare_key_parts(field, wanted, part, wanted_part);
  }
  if (part.length == wanted_part.length) return Compare_keys::Equal;
  const bool is_whole = part.length == field.key_length() && wanted_part.length == wanted.length;
  return is_whole ? Compare_keys::EqualButKeyPartLength : Compare_keys::NotEqual;
}

bool ha_esker::prepare_inplace_alter_table(TABLE *altered, Alter_inplace_info *wanted) {
  const int error = guarded([&] { return prepare_alter(altered, wanted); });
  if (error) print_error(error, MYF(0));
  return error;
}

int ha_esker::prepare_alter(TABLE *altered, Alter_inplace_info *wanted) {
  // What is prepared, and not ended, was written by the old definition.
  if (const int error = session_->wait_for_writers(ha_thd(), share_->name)) return error;
  auto made = std::make_unique<Alter>();
  made->change.name = share_->name;
  made->counter = share_->counter;
  const TableRecord &before = share_->record;
  TableRecord record = before;
  const LEX_CUSTRING &definition = wanted->create_info->tabledef_version;
  record.definition.assign(reinterpret_cast<const char *>(definition.str), definition.length);
  List_iterator_fast<Create_field> columns(wanted->alter_info->create_list);
  for (Field **field = altered->field; *field; field++) {
    const Create_field *column = columns++;
    if ((*field)->stored_in_db() && !column->field) {
      record.added.push_back(RowCodec::default_of(altered, *field));
    }
  }
  note_dropped(table, wanted->alter_info, *rows_, &record.dropped);
  made->change.resets_counter = wanted->create_info->used_fields & HA_CREATE_USED_AUTO;
  if (made->change.resets_counter) record.counter = wanted->create_info->auto_increment_value;

  std::vector<uint32> numbers;
  if (const int error = catalog->number_indexes(before.number, wanted->index_add_count, &numbers)) {
    return error;
  }
  made->change.record = record;  // so that what goes wrong from here on takes the marks away
  made->change.built = numbers;
  record.has_names = true;
  record.indexes.resize(1);
  auto number = numbers.begin();
  std::vector<bool> is_kept(table->s->keys);
  for (uint index = 0; index < altered->s->keys; index++) {
    const char *name = altered->key_info[index].name.str;
    const uint old = old_index(table, wanted, name);
    if (old == MAX_KEY) {
      if (number == numbers.end()) return HA_ERR_INTERNAL_ERROR;
      record.indexes.push_back({*number++, name});
      continue;
    }
    is_kept[old] = true;
    record.indexes.push_back({before.index(old, table->key_info[old].name.str), name});
  }
  for (uint index = 0; index < table->s->keys; index++) {
    if (is_kept[index]) continue;
    made->change.dropped.push_back(before.index(index, table->key_info[index].name.str));
  }
  made->change.record = record;
  wanted->handler_ctx = made.release();
  return 0;
}

bool ha_esker::inplace_alter_table(TABLE *altered, Alter_inplace_info *wanted) {
  auto *change = static_cast<Alter *>(wanted->handler_ctx);
  if (!change || change->change.built.empty()) return false;
  const int error = guarded([&] { return build_indexes(altered, change->change); });
  if (error && error != HA_ERR_FOUND_DUPP_KEY) print_error(error, MYF(0));
  return error;
}

// Reads the rows as they are, and has the entries of the new indexes sorted.
int ha_esker::build_indexes(TABLE *altered, const esker::Catalog::Altered &change) {
  const TableRecord &record = change.record;
  const RowCodec rows(altered, record.added, record.dropped);
  std::vector<std::pair<uint, KeyCodec>> built;
  for (uint index = 0; index < altered->s->keys; index++) {
    const uint32 number = record.index(index, altered->key_info[index].name.str);
    for (const uint32 wanted : change.built) {
      if (number == wanted) built.emplace_back(index, KeyCodec(altered, index, number));
    }
  }
  THD *thd = ha_thd();
  esker::SortedLoad load(thd, catalog, record.number);
  std::string lower;
  row_keys_->append_number(&lower);
  const std::string upper = esker::successor(lower);
  esker_iter *iter = nullptr;
  int code = esker_iter_new(share_->keyspace, nullptr, lower.data(), lower.size(), upper.data(),
                            upper.size(), ESKER_NO_FILL_CACHE, &iter);
  if (!code) code = esker_iter_seek_to_first(iter);
  int error = 0;
  uchar *row = altered->record[0];
  for (; !code && !error; code = error ? code : esker_iter_next(iter)) {
    esker_bytes key, value;
    uint64_t unix_ms = 0;
    code = esker_iter_entry(iter, &key, &value);
    if (!code && expires_) code = esker_iter_expiry(iter, &unix_ms);
    if (code) break;
    const std::string row_key(static_cast<const char *>(key.data), key.size);
    if (!rows.unpack(static_cast<const uchar *>(value.data), value.size, row)) {
      error = HA_ERR_CRASHED;
    }
    for (const auto &[index, codec] : built) {
      std::string entry, rest;
      if (!error) split(codec, row, row_key, &entry, &rest);
      if (!error) error = load.add(entry, rest, unix_ms);
    }
    if (thd_kill_level(thd)) error = HA_ERR_ABORTED_BY_USER;
  }
  esker_iter_free(iter);
  if (!error && code != ESKER_NOT_FOUND) error = esker::handler_error(code);
  esker::crash_at("before index");
  if (!error) error = load.take_in(share_->keyspace);
  esker::crash_at("after index");
  if (error != HA_ERR_FOUND_DUPP_KEY) return error;

  const std::string entry = load.duplicate() + load.duplicate_value();
  const uchar *bytes = reinterpret_cast<const uchar *>(entry.data());
  const KeyCodec row_keys(altered, altered->s->primary_key, row_keys_->number());
  for (const auto &[index, codec] : built) {
    if (esker::read_number(bytes, KeyCodec::kIndexBytes) != codec.number()) continue;
    std::string row_key;
    size_t size = 0;
    if (!codec.cut(bytes, entry.size(), &starts_) ||
        !codec.append_primary(row_keys, bytes, starts_, &row_key)) {
      break;
    }
    code = esker_get(share_->keyspace, nullptr, row_key.data(), row_key.size(), 0, found_);
    const void *found = esker_value_data(found_, &size);
    if (code || !rows.unpack(static_cast<const uchar *>(found), size, row)) break;
    tell_duplicate(altered, index);
    return HA_ERR_FOUND_DUPP_KEY;
  }
  return HA_ERR_CRASHED;
}

bool ha_esker::commit_inplace_alter_table(TABLE *, Alter_inplace_info *wanted, bool is_committed) {
  if (!is_committed) {
    // Its end takes the new indexes away.
    delete wanted->handler_ctx;
    wanted->handler_ctx = nullptr;
    return false;
  }
  const int error = guarded([&] {
    std::vector<Alter *> changes;
    std::vector<esker::Catalog::Altered> tables;
    if (wanted->group_commit_ctx) {
      for (inplace_alter_handler_ctx **at = wanted->group_commit_ctx; *at; at++) {
        changes.push_back(static_cast<Alter *>(*at));
      }
    } else {
      changes.push_back(static_cast<Alter *>(wanted->handler_ctx));
    }
    for (const Alter *change : changes) tables.push_back(change->change);
    if (const int failure = catalog->alter(tables)) return failure;
    for (Alter *change : changes) {
      if (change->change.resets_counter) change->counter->forget();
      change->change.built.clear();
    }
    Session::of(ha_thd())->changed_tables();
    return 0;
  });
  if (error) {
    print_error(error, MYF(0));
    return true;
  }
  wanted->group_commit_ctx = nullptr;
  return false;
}

// Which of two definitions the server keeps after a crash.
int ha_esker::check_version(handlerton *, const char *path, const LEX_CUSTRING *version,
                            ulonglong) {
  const std::string wanted(reinterpret_cast<const char *>(version->str), version->length);
  return guarded([&] { return catalog->has_definition(path, wanted) ? 0 : 1; });
}
