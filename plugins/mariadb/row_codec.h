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
// stands in the table's record, as of the ALTER that added them. A column that was dropped keeps its
// place: in rows of before it is passed over, as the record says how; in others it is NULL.
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
  // The table outlives it. `added` are the last columns of rows, that older ones lack; `dropped`
  // those that the table has no more.
  explicit RowCodec(TABLE *table, std::vector<ColumnDefault> added = {},
                    const std::vector<DroppedColumn> &dropped = {});

  // What a new column has in the rows that there are: its constant default.
  static ColumnDefault default_of(TABLE *table, Field *field);

  // What is left of a column once it is dropped, but for its place.
  static DroppedColumn form_of(const Field *field);
  // Behind a column of that form, nullptr if it does not end before `end`.
  static const uchar *skip(const DroppedColumn &form, const uchar *from, const uchar *end);

  // The place of a column of the table among those of rows.
  uint place_of(const Field *field) const;
  // How many there are.
  size_t columns() const { return columns_.size(); }

  void pack(const uchar *record, std::string *row) const;

  // BLOB columns of `record` then point into `row`, which is to outlive them. False if these are
  // not the bytes of a row.
  bool unpack(const uchar *row, size_t length, uchar *record) const;

 private:
  struct Column {
    Field *field;            // nullptr of one that was dropped
    const Field_blob *blob;  // the same, where it is one
    DroppedColumn form;
  };

  size_t packed_max(const uchar *record) const;
  void put_null(Field *field, uchar *record) const;

  TABLE *table_;
  std::vector<Column> columns_;
  std::vector<ColumnDefault> added_;
};

}  // namespace esker

#endif
