// What the catalogue writes of one table.
//
// | bytes       | what                                                                        |
// |-------------|-----------------------------------------------------------------------------|
// | 1           | version of the format, 2; 3 where columns were dropped                       |
// | 1           | 1 where the table is temporary, else 0                                      |
// | 4           | number of the table                                                         |
// | 8           | first value of its counter                                                  |
// | 16          | which definition of the server's it belongs to; 0 before its first ALTER    |
// |             | that did not copy                                                           |
// | 2           | the number of columns that such an ALTER put behind those there were        |
// | for each    | 1 if it is NULL in the rows of before, else 0 (1); its value as a row has it |
// |             | (4 bytes of length, and the value)                                          |
// | 2           | of version 3 alone: the number of columns that rows have, and the           |
// |             | definition has no more                                                      |
// | for each    | its place among the columns of rows (2); how many bytes before it in a row  |
// |             | say how long it is (1); how long it is where there are none (4)             |
// | 2           | the number of indexes, the rows as the first                                |
// | for each    | its number (4); its name (1 byte of length, and the name), "" of the rows    |
//
// Numbers are big-endian. Version 1, of earlier releases, ends the first four lines with the number
// of indexes (2) and their numbers (4 each), in the order of the server's definition.

#ifndef ESKER_TABLE_RECORD_H
#define ESKER_TABLE_RECORD_H

#include "server.h"

#include <string>
#include <vector>

namespace esker {

// What a column has in rows that are older than it.
struct ColumnDefault {
  bool is_null;
  std::string value;  // as a row has it
};

// A column that rows have, and the definition has no more: its place among the columns of rows, and
// how to pass over it.
struct DroppedColumn {
  uint place;
  uint length_bytes;  // before it, little-endian: its length
  uint32 bytes;       // its length, where there are none
};

struct TableIndex {
  uint32 number;
  std::string name;
};

struct TableRecord {
  uint32 number = 0;
  bool is_temporary = false;
  ulonglong counter = 0;
  std::string definition;  // 16 bytes, or none
  std::vector<ColumnDefault> added;
  std::vector<DroppedColumn> dropped;  // in the order of their places
  std::vector<TableIndex> indexes;
  bool has_names = true;
  // Not written: which change of all since the start made the table what it is; 0 for none.
  ulonglong changed = 0;

  std::string encode() const;
  // False if these are not the bytes of a record.
  bool decode(const uchar *from, size_t length);

  // The number of the index at that place in the server's definition, and with that name; 0 if
  // there is none.
  uint32 index(uint place, const char *name) const;
};

void append_number(std::string *to, ulonglong number, int bytes);
ulonglong read_number(const uchar *from, int bytes);

}  // namespace esker

#endif
