// Rows as the values of the store.
//
// | bytes          | what                                                          |
// |----------------|---------------------------------------------------------------|
// | 1              | version of the format, 1                                      |
// | 2, big-endian  | the number of columns that follow                             |
// | a bit a column | 1 where it is NULL, the lowest bit first, to whole bytes      |
// | the rest       | each column that is not NULL, as the server packs it          |
//
// Virtual columns are not stored and not counted. The server packs a column as its replication log
// has it: numbers as they lie in memory, little-endian; texts with their length before them, and
// CHAR without the spaces that fill it up.
//
// A row that is older than the last columns of its table has not got them: what it has in them then
// stands in the table's record, as of the ALTER that added them.
//
// Valid if and only if the version is 1, the number is that of the table or lacks columns that were
// added, each column has a packing that ends within the value, and the last one ends with it.

#ifndef ESKER_ROW_CODEC_H
#define ESKER_ROW_CODEC_H

#include "server.h"

#include "table_record.h"

#include <string>
#include <vector>

namespace esker {

class RowCodec {
 public:
  // The table outlives it. `added` are its last columns, that older rows lack.
  explicit RowCodec(TABLE *table, std::vector<ColumnDefault> added = {});

  // What a new column has in the rows that there are: its constant default.
  static ColumnDefault default_of(TABLE *table, Field *field);

  void pack(const uchar *record, std::string *row) const;

  // BLOB columns of `record` then point into `row`, which is to outlive them. False if these are
  // not the bytes of a row.
  bool unpack(const uchar *row, size_t length, uchar *record) const;

 private:
  size_t packed_max(const uchar *record) const;
  void put_null(Field *field, uchar *record) const;

  TABLE *table_;
  std::vector<Field *> stored_;
  std::vector<ColumnDefault> added_;
};

}  // namespace esker

#endif
