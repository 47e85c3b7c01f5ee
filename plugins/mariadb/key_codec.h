// The keys of one index as bytes whose order under memcmp is the order of the index.
//
// | part of a key | bytes                                                               |
// |---------------|---------------------------------------------------------------------|
// | index         | 4, big-endian: its number among all indexes of the server           |
// | NULL marker   | 1, where the column may be NULL: 0 NULL, and nothing more; 1 a value |
// | number        | as many as the type has: numbers, times, bits, members of ENUM, SET |
// | text          | see key_text.h: CHAR, VARCHAR, BINARY, VARBINARY, TEXT, BLOB        |
// | row id        | 8, big-endian: the only part of the key of a table without one      |
//
// A descending part has all its bits flipped, those of its marker as well. A secondary index has
// more parts than its columns: those of the primary key that it lacks, in the order in which the
// server knows them, so that every row has a key of its own and the row is found by it. Where the
// columns alone are a key of its own (unique, none of them NULL), the rest is not key but value.
//
// Valid if and only if `cut` finds all parts and the end with them.

#ifndef ESKER_KEY_CODEC_H
#define ESKER_KEY_CODEC_H

#include "server.h"

#include "key_text.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace esker {

class KeyCodec {
 public:
  static constexpr size_t kIndexBytes = 4;

  // The keys of an index of a table, or of its rows if `index` is MAX_KEY, and the table has no
  // primary key. The table outlives it.
  KeyCodec(TABLE *table, uint index, uint32 number);

  // Which parts of the primary key stand behind the columns of an index, since it lacks them: their
  // places in that key. Empty for the primary key itself, and where there is none.
  static std::vector<uint> rest_of(const TABLE *table, uint index);

  // Why keys cannot be made of that column, or nullptr.
  static const char *refusal(const Field *field);

  uint32 number() const { return number_; }
  // The columns that the index was declared with, and all that its keys have.
  uint user_parts() const { return user_parts_; }
  // Whether its keys are those of the rows, with rows as values.
  bool is_of_rows() const { return is_of_rows_; }
  uint parts() const { return static_cast<uint>(parts_.size()); }

  // Appends the number of the index, with which all its keys begin.
  void append_number(std::string *key) const;

  // Appends the parts from `first` up to `last` of a row that lies in `record`.
  void append(const uchar *record, ulonglong row_id, uint first, uint last,
              std::string *key) const;

  // Whether the columns alone are the key of this row, and the rest is value.
  bool is_whole(const uchar *record) const;

  // Where each part begins in a key with its value behind it, and where the last one ends. False if
  // these are not the bytes of a key.
  bool cut(const uchar *key, size_t length, std::vector<size_t> *starts) const;

  // Appends the key of the row that an entry of this index stands for; `starts` is from `cut`.
  bool append_primary(const KeyCodec &primary, const uchar *key,
                      const std::vector<size_t> &starts, std::string *row) const;

  // Whether the value of a column can be had back from the bytes of a part of that length.
  static bool is_restorable(const Field *field, uint length);

  // Whether all columns can be had back.
  bool is_restorable() const;

  // Gives all restorable columns back to `record`. False if one of them is zero in floating point,
  // whose sign the row alone has.
  bool restore(const uchar *key, const std::vector<size_t> &starts, uchar *record) const;

  // More bytes than any key of this index has.
  size_t length_max() const;

 private:
  enum Kind { kNumber, kText, kRowId };

  struct Part {
    Kind kind;
    Field *field;         // nullptr for a row id
    uint length;          // bytes of the column that count
    size_t chars_max;     // characters of them, of text
    size_t bytes;         // of a number
    bool is_reversed;
    bool is_restorable;
    std::shared_ptr<KeyText> text;
    const Field_blob *blob = nullptr;           // the column, where it is one
    const Field_varstring *variable = nullptr;  // the same
  };

  static Kind kind_of(const Field *field);
  void add_part(const KEY_PART_INFO &part);
  void append_part(const Part &part, ptrdiff_t offset, std::string *key) const;
  static size_t skip_part(const Part &part, const uchar *key, size_t length);
  static void restore_bytes(Field *field, const uchar *key, size_t length, uchar mask,
                            uchar *record);
  static void restore_text(const Part &part, const uchar *key, size_t length, ptrdiff_t offset);
  static bool restore_part(const Part &part, const uchar *key, size_t length, uchar *record);

  TABLE *table_;
  uint32 number_;
  uint user_parts_ = 0;
  bool is_of_rows_ = false;
  bool is_unique_ = false;
  bool is_nullable_ = false;
  std::vector<Part> parts_;
};

// The number of a row of a table without a primary key, by its key.
ulonglong row_id_in(std::string_view row_key);

// The least bytes that are greater than all that begin with `key`: what a range ends with.
std::string successor(std::string key);

}  // namespace esker

#endif
