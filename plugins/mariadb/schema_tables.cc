// Tables of INFORMATION_SCHEMA.

#include "schema_tables.h"

#include "session.h"

#include "sql_i_s.h"
#include "sql_show.h"
#include "sql_table.h"

#include <cstring>

namespace esker {

namespace {

using Show::CEnd;
using Show::Column;
using Show::Longtext;
using Show::Name;
using Show::ULonglong;
using Show::Varchar;

constexpr uint kTextLength = 2048;
constexpr uint kKeyspaceLength = 255;
// Of an id in hexadecimal: 256 bytes at most, and twice as many digits.
constexpr uint kIdLength = 512;

ST_FIELD_INFO keyspace_columns[] = {
    Column("TABLE_SCHEMA", Name(), NOT_NULL), Column("TABLE_NAME", Name(), NOT_NULL),
    Column("PARTITION_NAME", Name(), NULLABLE),
    Column("KEYSPACE", Varchar(kKeyspaceLength), NOT_NULL),
    Column("ENTRIES", ULonglong(), NOT_NULL), Column("DISK_BYTES", ULonglong(), NOT_NULL),
    Column("MEMORY_BYTES", ULonglong(), NOT_NULL),
    Column("SETTINGS", Longtext(kTextLength), NOT_NULL), CEnd()};

ST_FIELD_INFO prepared_columns[] = {
    Column("XID", Varchar(kIdLength), NOT_NULL), Column("WRITES", ULonglong(), NOT_NULL),
    Column("AGE_MS", ULonglong(), NOT_NULL), CEnd()};

void store(Field *field, const std::string &text) {
  field->store(text.data(), text.size(), system_charset_info);
}

// A part of a path as the name that users gave it.
std::string named(const std::string &part) {
  char name[NAME_LEN + 1];
  const uint length = filename_to_tablename(part.c_str(), name, sizeof name, true);
  return std::string(name, length);
}

// Settings that a keyspace has of its own, as "name=text, name=text".
std::string settings_of(const esker_keyspace *keyspace) {
  char **texts = nullptr;
  size_t count = 0;
  std::string out;
  if (esker_keyspace_settings(keyspace, &texts, &count)) return out;
  for (size_t at = 0; at + 1 < count; at += 2) {
    out += out.empty() ? "" : ", ";
    out += std::string(texts[at]) + "=" + texts[at + 1];
  }
  esker_strings_free(texts, count);
  return out;
}

// A table that was dropped meanwhile is passed over.
int add_keyspace(THD *thd, TABLE *table, const std::string &path) {
  TableRecord record;
  esker_keyspace *keyspace = nullptr;
  if (catalog->find(path, &record) || catalog->open_table(record, &keyspace)) return 0;
  uint64_t disk = 0, memory = 0, keys = 0;
  const int code =
      esker_approximate(keyspace, nullptr, 0, nullptr, 0, &disk, &memory, &keys);
  const std::string settings = settings_of(keyspace);
  char *name = nullptr;
  const bool is_named = !esker_keyspace_name(keyspace, &name);
  const std::string keyspace_name = is_named ? name : "";
  esker_string_free(name);
  esker_keyspace_free(keyspace);
  if (code) return 0;

  const size_t slash = path.rfind('/');
  const size_t before = slash == std::string::npos ? slash : path.rfind('/', slash - 1);
  if (slash == std::string::npos || before == std::string::npos) return 0;
  const std::string file = path.substr(slash + 1);
  const size_t mark = file.find(kPartition);
  restore_record(table, s->default_values);
  store(table->field[0], named(path.substr(before + 1, slash - before - 1)));
  store(table->field[1], named(file.substr(0, mark)));
  if (mark != std::string::npos) {
    table->field[2]->set_notnull();
    store(table->field[2], named(file.substr(mark + 3)));
  }
  store(table->field[3], keyspace_name);
  table->field[4]->store(static_cast<longlong>(keys), true);
  table->field[5]->store(static_cast<longlong>(disk), true);
  table->field[6]->store(static_cast<longlong>(memory), true);
  store(table->field[7], settings);
  return schema_table_store_record(thd, table);
}

int fill_keyspaces(THD *thd, TABLE_LIST *tables, COND *) {
  return guarded([&] {
    std::vector<std::string> names;
    if (const int code = catalog->names(&names)) return code;
    for (const std::string &name : names) {
      if (add_keyspace(thd, tables->table, name)) return 1;
    }
    return 0;
  });
}

struct Filling {
  THD *thd;
  TABLE *table;
};

int add_prepared(void *state, const void *id, size_t length, uint64_t writes, uint64_t age_ms) {
  return guarded([&] {
    const auto *filling = static_cast<Filling *>(state);
    TABLE *table = filling->table;
    std::string digits;
    for (size_t at = 0; at < length; at++) {
      char two[3];
      snprintf(two, sizeof two, "%02X", static_cast<const uchar *>(id)[at]);
      digits += two;
    }
    store(table->field[0], digits);
    table->field[1]->store(static_cast<longlong>(writes), true);
    table->field[2]->store(static_cast<longlong>(age_ms), true);
    return static_cast<int>(schema_table_store_record(filling->thd, table));
  });
}

int fill_prepared(THD *thd, TABLE_LIST *tables, COND *) {
  Filling filling{thd, tables->table};
  return esker_db_prepared(catalog->db(), add_prepared, &filling) ? 1 : 0;
}

}  // namespace

int begin_keyspaces(void *table) {
  auto *made = static_cast<ST_SCHEMA_TABLE *>(table);
  made->fields_info = keyspace_columns;
  made->fill_table = fill_keyspaces;
  return 0;
}

int begin_prepared(void *table) {
  auto *made = static_cast<ST_SCHEMA_TABLE *>(table);
  made->fields_info = prepared_columns;
  made->fill_table = fill_prepared;
  return 0;
}

}  // namespace esker
