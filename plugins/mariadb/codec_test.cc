// Rows and keys of every type, held against tables of the server's own: the server is the oracle.
//
// A server runs inside of this program. Random rows go into tables of its engine MyISAM; then each
// row is to come back from its packed form as it was, and the keys of each index are to stand in
// the order in which MyISAM's index gives the rows.

#include "key_codec.h"
#include "row_codec.h"

#include <mysql.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

namespace {

MYSQL *connection;
size_t failed;
size_t misread;  // rows with a wrong bit that are rows still: a wrong value, say

[[noreturn]] void stop(const std::string &what) {
  fprintf(stderr, "codec_test: %s\n", what.c_str());
  exit(1);
}

void run(const std::string &statement) {
  if (mysql_real_query(connection, statement.data(), statement.size())) {
    stop(std::string(mysql_error(connection)) + " in " + statement.substr(0, 300));
  }
  if (MYSQL_RES *result = mysql_store_result(connection)) mysql_free_result(result);
}

void expect(bool is_right, const std::string &what) {
  if (is_right) return;
  if (failed++ < 20) printf("%s\n", what.c_str());
}

struct Column {
  const char *type;
  const char *prefix;  // for the key, or nullptr if only as a whole
  std::vector<const char *> values;
};

const std::vector<const char *> kIntegers = {"0", "1", "-1", "127", "-128", "255", "256", "32767",
                                             "-32768", "65535", "8388607", "-8388608", "16777215",
                                             "2147483647", "-2147483648", "4294967295",
                                             "9223372036854775807", "-9223372036854775808"};
const std::vector<const char *> kDecimals = {"0", "1", "-1", "0.01", "-0.01", "99.99", "-99.99",
                                             "123456789.5", "-123456789.5"};
const std::vector<const char *> kFloats = {"0", "-0e0", "1", "-1", "0.01", "-99.99", "1.5e-40",
                                           "-1.5e-40", "3.4e38", "-3.4e38", "1e-320", "123456.5"};
const std::vector<const char *> kTimes = {"'2000-01-01 00:00:00'", "'1999-12-31 23:59:59.999999'",
                                          "'2026-11-27 13:50:00.5'", "'1971-02-03 04:05:06'",
                                          "'2037-12-31 00:00:01.000001'"};
const std::vector<const char *> kHours = {"'00:00:00'", "'-00:00:01.5'", "'838:59:59'",
                                          "'-838:59:59'", "'12:34:56.789012'", "'00:00:00.000001'"};
const std::vector<const char *> kTexts = {"''", "'a'", "'A'", "'a '", "'ab'", "'a\\tb'", "'b'",
                                          "'\xc3\xa4'", "'\xc3\x9f'", "'ss'", "'Abc'", "'abcdefgh'",
                                          "'abcdefghij'", "'aaaaaaaaaaaaaaaaaaaa'", "'  '",
                                          "'a  b'", "'zebra'"};
// The server itself orders what is less than a space in two ways where a CHAR is not padded: as if
// its spaces were text (MyISAM), and as if they were not there (InnoDB, comparisons, and we).
const std::vector<const char *> kPlain = {"''", "'a'", "'A'", "'a '", "'ab'", "'\xc3\xa4'", "'ss'",
                                          "'abcdefghij'", "'a  b'", "'  '"};
const std::vector<const char *> kBytes = {"''", "x'00'", "x'0000'", "x'ff'", "x'00ff'", "x'0001'",
                                          "'a'", "'a '", "'ab'", "x'6100'", "x'ffffffffffff'"};

const std::vector<Column> kColumns = {
    {"tinyint", nullptr, kIntegers},
    {"tinyint unsigned", nullptr, kIntegers},
    {"smallint", nullptr, kIntegers},
    {"smallint unsigned", nullptr, kIntegers},
    {"mediumint", nullptr, kIntegers},
    {"mediumint unsigned", nullptr, kIntegers},
    {"int", nullptr, kIntegers},
    {"int unsigned", nullptr, kIntegers},
    {"bigint", nullptr, kIntegers},
    {"bigint unsigned", nullptr, kIntegers},
    {"float", nullptr, kFloats},
    {"double", nullptr, kFloats},
    {"decimal(5,2)", nullptr, kDecimals},
    {"decimal(30,10)", nullptr, kDecimals},
    {"decimal(10,0) unsigned", nullptr, kDecimals},
    {"bit(1)", nullptr, {"0", "1"}},
    {"bit(11)", nullptr, {"0", "1", "255", "256", "2047", "1024"}},
    {"bit(64)", nullptr, {"0", "1", "255", "256", "18446744073709551615"}},
    {"year", nullptr, {"0", "1901", "2000", "2155"}},
    {"date", nullptr, kTimes},
    {"datetime", nullptr, kTimes},
    {"datetime(3)", nullptr, kTimes},
    {"datetime(6)", nullptr, kTimes},
    {"timestamp", nullptr, kTimes},
    {"timestamp(6)", nullptr, kTimes},
    {"time", nullptr, kHours},
    {"time(2)", nullptr, kHours},
    {"time(6)", nullptr, kHours},
    {"enum('x','a','m')", nullptr, {"'x'", "'a'", "'m'"}},
    {"set('x','a','m')", nullptr, {"''", "'x'", "'a'", "'x,m'", "'x,a,m'"}},
    {"uuid", nullptr, {"'123e4567-e89b-12d3-a456-426655440000'", "uuid()",
                       "'00000000-0000-0000-0000-000000000000'"}},
    {"inet6", nullptr, {"'::'", "'::1'", "'ffff::ffff'", "'192.0.2.1'"}},
    {"char(10) character set latin1", "(3)", kTexts},
    {"char(10) character set latin1 collate latin1_nopad_bin", "(3)", kPlain},
    {"char(10) character set latin1 collate latin1_bin", "(3)", kTexts},
    {"char(10) character set utf8mb4 collate utf8mb4_bin", "(3)", kTexts},
    {"char(10) character set utf16 collate utf16_bin", "(3)", kTexts},
    {"char(10) character set utf8mb4", "(3)", kTexts},
    {"char(10) character set utf8mb4 collate utf8mb4_uca1400_nopad_ai_ci", "(3)", kPlain},
    {"varchar(20) character set latin1 collate latin1_nopad_bin", "(3)", kTexts},
    {"varchar(20) character set latin1 collate latin1_german2_ci", "(3)", kTexts},
    {"varchar(20) character set utf8mb4", "(3)", kTexts},
    {"varchar(20) character set utf8mb4 collate utf8mb4_bin", "(3)", kTexts},
    {"varchar(20) character set utf8mb4 collate utf8mb4_nopad_bin", "(3)", kTexts},
    {"varchar(20) character set utf8mb4 collate utf8mb4_uca1400_as_cs", "(3)", kTexts},
    {"varchar(20) character set utf16", "(3)", kTexts},
    {"varchar(80) character set utf8mb4 collate utf8mb4_unicode_ci", "(5)", kTexts},
    {"binary(6)", "(3)", kBytes},
    {"varbinary(20)", "(3)", kBytes},
    {"tinytext", "(4)", kTexts},
    {"text character set utf8mb4", "(4)", kTexts},
    {"longtext character set latin1", "(4)", kTexts},
    {"tinyblob", "(4)", kBytes},
    {"blob", "(4)", kBytes},
    {"longblob", "(4)", kBytes},
};

bool is_only_prefix(const Column &column) {
  const std::string type = column.type;
  return type.find("text") != std::string::npos || type.find("blob") != std::string::npos;
}

struct Entry {
  std::string key;
  std::string values;  // what the server says of the columns, to tell equal from unequal
};

// The server, cut open: its tables as its own statements see them.
TABLE *locked_table() {
  // The embedded library keeps the session where a client keeps what it has of the server.
  THD *thd = static_cast<THD *>(connection->thd);
  set_current_thd(thd);
  if (!thd->open_tables) stop("no table is open under LOCK TABLES");
  thd->open_tables->use_all_columns();
  return thd->open_tables;
}

void check_row(TABLE *table, const esker::RowCodec &codec, std::mt19937 *random) {
  std::string row;
  codec.pack(table->record[0], &row);
  const uchar *bytes = reinterpret_cast<const uchar *>(row.data());
  // Into the other record, so that what a field does to its own place is found.
  const std::string before(reinterpret_cast<char *>(table->record[0]), table->s->reclength);
  memset(table->record[1], 0xa5, table->s->reclength);
  expect(codec.unpack(bytes, row.size(), table->record[1]), "a row does not come back");
  expect(!memcmp(before.data(), table->record[0], table->s->reclength),
         "reading into one record changed the other");
  std::string again;
  codec.pack(table->record[1], &again);
  expect(row == again, "a row comes back as another");
  for (Field **field = table->field; *field; field++) {
    const ptrdiff_t offset = table->record[1] - table->record[0];
    expect((*field)->is_real_null(0) == (*field)->is_real_null(offset), "NULL is lost");
    if ((*field)->is_real_null(0)) continue;
    StringBuffer<64> type;
    (*field)->sql_type(type);
    expect(!(*field)->cmp_offset(offset),
           std::string("a column comes back as another: ") + type.c_ptr());
  }
  // What is passed over where a column was dropped is what was packed.
  for (Field **field = table->field; *field; field++) {
    if ((*field)->is_real_null(0)) continue;
    std::string packed(row.size() + (*field)->pack_length() + 4, '\0');
    uchar *begin = reinterpret_cast<uchar *>(&packed[0]);
    const uchar *end = (*field)->pack(begin, (*field)->ptr, UINT_MAX);
    const esker::DroppedColumn form = esker::RowCodec::form_of(*field);
    StringBuffer<64> type;
    (*field)->sql_type(type);
    expect(esker::RowCodec::skip(form, begin, end) == end &&
               (begin == end || !esker::RowCodec::skip(form, begin, end - 1)),
           std::string("a column is not passed over: ") + type.c_ptr());
  }
  // Bytes that are no row are refused, or read as some row, and never read behind their end.
  std::string torn(row.data(), (*random)() % row.size());
  expect(!codec.unpack(reinterpret_cast<const uchar *>(torn.data()), torn.size(),
                       table->record[1]),
         "half of a row is taken for one");
  std::vector<uchar> wrong(row.begin(), row.end());
  wrong[(*random)() % wrong.size()] ^= 1 << (*random)() % 8;
  if (codec.unpack(wrong.data(), wrong.size(), table->record[1])) misread++;
}

void check_key(TABLE *table, uint index, const std::string &where) {
  const esker::KeyCodec codec(table, index, 7);
  const esker::KeyCodec primary(table, table->s->primary_key, 3);
  const KEY &key = table->key_info[index];
  std::string last, last_image(key.key_length, '\0'), image(key.key_length, '\0');
  const size_t user = codec.user_parts();
  std::vector<size_t> starts;
  bool is_first = true;
  if (table->file->ha_index_init(index, true)) stop("an index cannot be read");
  for (int error = table->file->ha_index_first(table->record[0]); !error;
       error = table->file->ha_index_next(table->record[0])) {
    std::string whole, columns, row, made;
    codec.append_number(&whole);
    codec.append(table->record[0], 0, 0, codec.parts(), &whole);
    codec.append_number(&columns);
    codec.append(table->record[0], 0, 0, static_cast<uint>(user), &columns);
    const uchar *bytes = reinterpret_cast<const uchar *>(whole.data());
    // The tail is not of MyISAM's order, the columns are.
    key_copy(reinterpret_cast<uchar *>(&image[0]), table->record[0], const_cast<KEY *>(&key), 0);
    if (!is_first) {
      const bool is_same = key_tuple_cmp(key.key_part, reinterpret_cast<uchar *>(&image[0]),
                                         reinterpret_cast<uchar *>(&last_image[0]),
                                         key.key_length) == 0;
      expect(is_same ? last == columns : last < columns,
             where + ": keys stand in another order than rows");
    }
    is_first = false;
    last = columns;
    last_image = image;
    expect(codec.cut(bytes, whole.size(), &starts), where + ": a key cannot be cut");
    expect(starts[user] == columns.size(), where + ": a key is cut at the wrong place");
    expect(!codec.cut(bytes, whole.size() - 1, &starts), where + ": half a key is taken for one");
    expect(whole.size() <= codec.length_max(), where + ": a key is longer than the longest");
    codec.cut(bytes, whole.size(), &starts);
    primary.append_number(&row);
    primary.append(table->record[0], 0, 0, primary.parts(), &row);
    expect(codec.append_primary(primary, bytes, starts, &made) && made == row,
           where + ": an entry stands for another row");
    memcpy(table->record[1], table->record[0], table->s->reclength);
    for (uint part = 0; part < key.user_defined_key_parts; part++) {
      Field *field = table->field[key.key_part[part].fieldnr - 1];
      if (!esker::KeyCodec::is_restorable(field, key.key_part[part].length)) continue;
      memset(field->ptr + (table->record[1] - table->record[0]), 0x5a,
             field->pack_length_in_rec());
    }
    const bool is_back = codec.restore(bytes, starts, table->record[1]);
    bool has_zero = false;
    for (uint part = 0; part < key.user_defined_key_parts; part++) {
      Field *field = table->field[key.key_part[part].fieldnr - 1];
      if (!esker::KeyCodec::is_restorable(field, key.key_part[part].length)) continue;
      if (field->is_real_null(0)) continue;
      const bool is_float =
          field->real_type() == MYSQL_TYPE_FLOAT || field->real_type() == MYSQL_TYPE_DOUBLE;
      if (is_float && field->val_real() == 0) {
        has_zero = true;
        continue;
      }
      // Bytes behind the end of a VARBINARY are anything.
      expect(!field->cmp_binary_offset(static_cast<uint>(table->record[1] - table->record[0])),
             where + ": a column comes back from its key as another");
    }
    expect(is_back != has_zero, where + ": the row of a zero is asked for, and no other");
  }
  table->file->ha_index_end();
}

void check_table(const std::vector<size_t> &chosen, size_t rows, std::mt19937 *random) {
  std::string columns = "id int not null auto_increment primary key";
  std::string keys, names;
  for (size_t at = 0; at < chosen.size(); at++) {
    const Column &column = kColumns[chosen[at]];
    const std::string name = "c" + std::to_string(at);
    columns += ", " + name + " " + column.type + ((*random)() % 4 ? " null" : " not null");
    const bool is_cut = is_only_prefix(column) || (column.prefix && (*random)() % 3 == 0);
    const std::string part = name + (is_cut ? column.prefix : "");
    keys += ", key (" + part + ((*random)() % 2 ? " desc)" : ")");
    names += (at ? ", " : "") + part + ((*random)() % 3 ? "" : " desc");
  }
  run("create or replace table t (" + columns + keys + ", key (" + names + ")) engine=MyISAM");
  for (size_t row = 0; row < rows; row++) {
    std::string values = "null";
    for (const size_t at : chosen) {
      const std::vector<const char *> &pool = kColumns[at].values;
      const size_t pick = (*random)() % (pool.size() + 1);
      values += std::string(", ") + (pick == pool.size() ? "null" : pool[pick]);
    }
    run("insert ignore into t values (" + values + ")");
  }
  run("lock tables t write");
  TABLE *table = locked_table();
  const esker::RowCodec codec(table);
  if (table->file->ha_rnd_init(true)) stop("a table cannot be read");
  for (int error = table->file->ha_rnd_next(table->record[0]); !error;
       error = table->file->ha_rnd_next(table->record[0])) {
    check_row(table, codec, random);
  }
  table->file->ha_rnd_end();
  for (uint index = 0; index < table->s->keys; index++) {
    check_key(table, index, columns + " index " + std::to_string(index));
  }
  run("unlock tables");
}

}  // namespace

int main(int count, char **words) {
  if (count < 2) stop("give a directory for the server's files");
  const size_t rounds = count > 2 ? strtoul(words[2], nullptr, 10) : 2;
  const std::filesystem::path place = std::filesystem::absolute(words[1]);
  std::filesystem::remove_all(place);
  std::filesystem::create_directories(place / "test");
  const std::string where = "--datadir=" + place.string();
  std::vector<std::string> texts = {"codec_test", "--no-defaults", where, "--skip-grant-tables",
                                    "--default-storage-engine=MyISAM", "--skip-innodb",
                                    "--lc-messages-dir=/usr/share/mysql"};
  std::vector<char *> arguments;
  for (std::string &text : texts) arguments.push_back(&text[0]);
  const char *groups[] = {"server", nullptr};
  if (mysql_server_init(static_cast<int>(arguments.size()), arguments.data(),
                        const_cast<char **>(groups))) {
    stop("the server inside does not start");
  }
  connection = mysql_init(nullptr);
  mysql_options(connection, MYSQL_OPT_USE_EMBEDDED_CONNECTION, nullptr);
  if (!mysql_real_connect(connection, nullptr, nullptr, nullptr, "test", 0, nullptr, 0)) {
    stop(mysql_error(connection));
  }
  run("set sql_mode='', time_zone='+00:00'");
  std::mt19937 random(29);
  size_t tables = 0;
  for (size_t round = 0; round < rounds; round++) {
    for (size_t at = 0; at < kColumns.size(); at++, tables++) {
      check_table({at}, 60, &random);
    }
    for (size_t at = 0; at < kColumns.size(); at++, tables++) {
      check_table({random() % kColumns.size(), random() % kColumns.size(),
                   random() % kColumns.size()}, 60, &random);
    }
  }
  printf("%zu tables of %zu types, %zu faults, %zu rows with a wrong bit read as rows\n", tables,
         kColumns.size(), failed, misread);
  mysql_close(connection);
  mysql_server_end();
  return failed != 0;
}
