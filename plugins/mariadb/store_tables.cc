// Tables of INFORMATION_SCHEMA that tell what the store does: levels, transactions, their locks and
// waits for such, compactions, and the last deadlock.

#include "schema_tables.h"

#include "events.h"
#include "session.h"

#include "sql_i_s.h"
#include "sql_show.h"
#include "tztime.h"

#include <cstring>
#include <map>

namespace esker {

namespace {

using Show::CEnd;
using Show::Column;
using Show::Datetime;
using Show::Double;
using Show::Longtext;
using Show::SLonglong;
using Show::ULonglong;
using Show::Varchar;

constexpr uint kNameLength = 255;
constexpr uint kWordLength = 64;
// "prepared ", and an id of 138 bytes in hexadecimal.
constexpr uint kOwnerLength = 300;
constexpr uint kTextLength = 4096;
// The server makes a column of so many characters one without an end, in which no key is cut.
constexpr uint kKeyLength = 65535;

ST_FIELD_INFO level_columns[] = {
    Column("KEYSPACE", Varchar(kNameLength), NOT_NULL), Column("LEVEL", ULonglong(), NOT_NULL),
    Column("FILES", ULonglong(), NOT_NULL), Column("RUNS", ULonglong(), NOT_NULL),
    Column("BYTES", ULonglong(), NOT_NULL), Column("RAW_BYTES", ULonglong(), NOT_NULL),
    Column("ENTRIES", ULonglong(), NOT_NULL), Column("DELETES", ULonglong(), NOT_NULL),
    Column("SCORE", Double(9), NOT_NULL), CEnd()};

// Of a number as the store names it, the column that it goes into.
const std::map<std::string, uint> kLevelNumbers = {
    {"esker_level_files", 2},   {"esker_level_runs", 3},    {"esker_level_bytes", 4},
    {"esker_level_raw_bytes", 5}, {"esker_level_entries", 6}, {"esker_level_deletes", 7},
    {"esker_level_score", 8}};

ST_FIELD_INFO transaction_columns[] = {
    Column("NUMBER", ULonglong(), NOT_NULL), Column("OWNER", Varchar(kNameLength), NULLABLE),
    Column("ISOLATION", Varchar(kWordLength), NOT_NULL), Column("AGE_MS", ULonglong(), NOT_NULL),
    Column("LOCKS", ULonglong(), NOT_NULL), Column("IS_WAITING", SLonglong(1), NOT_NULL), CEnd()};

ST_FIELD_INFO wait_columns[] = {
    Column("NUMBER", ULonglong(), NOT_NULL), Column("OWNER", Varchar(kNameLength), NULLABLE),
    Column("WAITED_MS", ULonglong(), NOT_NULL), Column("KEYSPACE", Varchar(kNameLength), NULLABLE),
    Column("LOCK_KEY", Longtext(kKeyLength), NULLABLE),
    Column("HOLDER", ULonglong(), NOT_NULL), CEnd()};

ST_FIELD_INFO lock_columns[] = {
    Column("NUMBER", ULonglong(), NOT_NULL), Column("OWNER", Varchar(kOwnerLength), NULLABLE),
    Column("KEYSPACE", Varchar(kNameLength), NULLABLE),
    Column("LOCK_KEY", Longtext(kKeyLength), NULLABLE),
    Column("MODE", Varchar(kWordLength), NOT_NULL), Column("HELD_MS", ULonglong(), NOT_NULL),
    CEnd()};

ST_FIELD_INFO compaction_columns[] = {
    Column("ENDED", Datetime(0), NOT_NULL), Column("KEYSPACE", Varchar(kNameLength), NOT_NULL),
    Column("JOB", Varchar(kWordLength), NOT_NULL), Column("REASON", Varchar(kWordLength), NULLABLE),
    Column("TO_LEVEL", Varchar(kWordLength), NULLABLE),
    Column("READ_BYTES", Varchar(kWordLength), NULLABLE),
    Column("WRITTEN_BYTES", Varchar(kWordLength), NULLABLE),
    Column("DETAILS", Longtext(kTextLength), NOT_NULL), CEnd()};

ST_FIELD_INFO deadlock_columns[] = {Column("FOUND", Datetime(0), NOT_NULL),
                                    Column("DETAILS", Longtext(kTextLength), NOT_NULL), CEnd()};

struct Filling {
  THD *thd;
  TABLE *table;
};

void store(Field *field, const std::string &text) {
  field->set_notnull();
  field->store(text.data(), text.size(), system_charset_info);
}

void store(Field *field, uint64_t number) {
  field->set_notnull();
  field->store(static_cast<longlong>(number), true);
}

void store_time(THD *thd, Field *field, time_t at) {
  MYSQL_TIME time;
  thd->variables.time_zone->gmt_sec_to_TIME(&time, at);
  field->store_time(&time);
}

std::string hex_of(const esker_bytes &bytes) {
  std::string digits;
  for (size_t at = 0; at < bytes.size; at++) {
    char two[3];
    snprintf(two, sizeof two, "%02x", static_cast<const uchar *>(bytes.data)[at]);
    digits += two;
  }
  return digits;
}

using Level = std::pair<std::string, std::string>;  // keyspace, and number of the level
using Levels = std::map<Level, std::map<uint, double>>;

int note_level(void *state, const char *name, const char *labels, double number) {
  return guarded([&] {
    const auto column = kLevelNumbers.find(name);
    if (column == kLevelNumbers.end()) return 0;
    std::string line = " " + std::string(labels);
    for (char &byte : line) {
      if (byte == ',') byte = ' ';
    }
    auto *levels = static_cast<Levels *>(state);
    (*levels)[{value_in(line, "keyspace"), value_in(line, "level")}][column->second] = number;
    return 0;
  });
}

int fill_levels(THD *thd, TABLE_LIST *tables, COND *) {
  return guarded([&] {
    TABLE *table = tables->table;
    Levels levels;
    if (esker_db_numbers(catalog->db(), note_level, &levels)) return 1;
    for (const auto &[level, numbers] : levels) {
      restore_record(table, s->default_values);
      store(table->field[0], level.first);
      store(table->field[1], strtoull(level.second.c_str(), nullptr, 10));
      for (const auto &[column, number] : numbers) table->field[column]->store(number);
      if (schema_table_store_record(thd, table)) return 1;
    }
    return 0;
  });
}

const char *word_of(int isolation) {
  switch (isolation) {
    case ESKER_READ_COMMITTED: return "read committed";
    case ESKER_SNAPSHOT: return "snapshot";
    default: return "serializable";
  }
}

int add_transaction(void *state, const esker_tx_stats *told) {
  return guarded([&] {
    const auto *filling = static_cast<Filling *>(state);
    TABLE *table = filling->table;
    restore_record(table, s->default_values);
    store(table->field[0], told->number);
    if (told->owner) store(table->field[1], told->owner);
    store(table->field[2], word_of(told->isolation));
    store(table->field[3], told->age_ms);
    store(table->field[4], told->locks);
    store(table->field[5], static_cast<uint64_t>(told->is_waiting));
    return static_cast<int>(schema_table_store_record(filling->thd, table));
  });
}

int add_wait(void *state, const esker_tx_stats *told) {
  return guarded([&] {
    const auto *filling = static_cast<Filling *>(state);
    TABLE *table = filling->table;
    for (size_t at = 0; told->is_waiting && at < told->holder_count; at++) {
      restore_record(table, s->default_values);
      store(table->field[0], told->number);
      if (told->owner) store(table->field[1], told->owner);
      store(table->field[2], told->waited_ms);
      if (told->wanted_keyspace) store(table->field[3], told->wanted_keyspace);
      if (told->wanted_key.data) store(table->field[4], hex_of(told->wanted_key));
      store(table->field[5], told->holders[at]);
      if (schema_table_store_record(filling->thd, table)) return 1;
    }
    return 0;
  });
}

// Of the transaction whose number and owner the record has.
int add_lock(void *state, const esker_lock_stats *told) {
  return guarded([&] {
    const auto *filling = static_cast<Filling *>(state);
    TABLE *table = filling->table;
    table->field[2]->set_null();
    table->field[3]->set_null();
    if (told->keyspace) store(table->field[2], told->keyspace);
    if (told->key.data) store(table->field[3], hex_of(told->key));
    store(table->field[4], told->mode);
    store(table->field[5], told->held_ms);
    return static_cast<int>(schema_table_store_record(filling->thd, table));
  });
}

int add_locks(void *state, const esker_tx_stats *told) {
  return guarded([&] {
    TABLE *table = static_cast<Filling *>(state)->table;
    if (!told->locks) return 0;
    restore_record(table, s->default_values);
    store(table->field[0], told->number);
    if (told->owner) store(table->field[1], told->owner);
    return esker_db_locks(catalog->db(), told->number, add_lock, state) ? 1 : 0;
  });
}

// What is prepared has no number any more; its owner has the XID as ESKER_PREPARED tells it. One that
// has ended meanwhile has none.
int add_prepared_locks(void *state, const void *id, size_t length, uint64_t, uint64_t) {
  return guarded([&] {
    TABLE *table = static_cast<Filling *>(state)->table;
    std::string digits = hex_of({id, length});
    for (char &digit : digits) digit = static_cast<char>(toupper(digit));
    restore_record(table, s->default_values);
    store(table->field[0], uint64_t{0});
    store(table->field[1], "prepared " + digits);
    const int code = esker_db_prepared_locks(catalog->db(), id, length, add_lock, state);
    return code && code != ESKER_INVALID ? 1 : 0;
  });
}

int fill_transactions(THD *thd, TABLE_LIST *tables, COND *) {
  Filling filling{thd, tables->table};
  return esker_db_transactions(catalog->db(), add_transaction, &filling) ? 1 : 0;
}

int fill_waits(THD *thd, TABLE_LIST *tables, COND *) {
  Filling filling{thd, tables->table};
  return esker_db_transactions(catalog->db(), add_wait, &filling) ? 1 : 0;
}

int fill_locks(THD *thd, TABLE_LIST *tables, COND *) {
  Filling filling{thd, tables->table};
  if (esker_db_transactions(catalog->db(), add_locks, &filling)) return 1;
  return esker_db_prepared(catalog->db(), add_prepared_locks, &filling) ? 1 : 0;
}

int fill_compactions(THD *thd, TABLE_LIST *tables, COND *) {
  return guarded([&] {
    TABLE *table = tables->table;
    for (const Event &event : events.jobs()) {
      restore_record(table, s->default_values);
      store_time(thd, table->field[0], event.at);
      store(table->field[1], value_in(event.text, "keyspace"));
      store(table->field[2], event.text.substr(0, event.text.find("_end")));
      uint column = 3;
      for (const char *name : {"reason", "to_level", "read_bytes", "written_bytes"}) {
        std::string value = value_in(event.text, name);
        // A flush reads no file.
        if (value.empty() && column == 6) value = value_in(event.text, "bytes");
        if (!value.empty()) store(table->field[column], value);
        column++;
      }
      store(table->field[7], event.text);
      if (schema_table_store_record(thd, table)) return 1;
    }
    return 0;
  });
}

int fill_deadlocks(THD *thd, TABLE_LIST *tables, COND *) {
  return guarded([&] {
    TABLE *table = tables->table;
    const Event last = events.deadlock();
    if (!last.at) return 0;
    restore_record(table, s->default_values);
    store_time(thd, table->field[0], last.at);
    store(table->field[1], last.text);
    return static_cast<int>(schema_table_store_record(thd, table));
  });
}

int begin(void *table, ST_FIELD_INFO *columns, int (*fill)(THD *, TABLE_LIST *, COND *)) {
  auto *made = static_cast<ST_SCHEMA_TABLE *>(table);
  made->fields_info = columns;
  made->fill_table = fill;
  return 0;
}

}  // namespace

int begin_levels(void *table) { return begin(table, level_columns, fill_levels); }
int begin_transactions(void *table) {
  return begin(table, transaction_columns, fill_transactions);
}
int begin_locks(void *table) { return begin(table, lock_columns, fill_locks); }
int begin_lock_waits(void *table) { return begin(table, wait_columns, fill_waits); }
int begin_compactions(void *table) { return begin(table, compaction_columns, fill_compactions); }
int begin_deadlocks(void *table) { return begin(table, deadlock_columns, fill_deadlocks); }

}  // namespace esker
