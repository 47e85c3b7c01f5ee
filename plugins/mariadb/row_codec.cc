// Rows as the values of the store.

#include "row_codec.h"

#include <cstring>

namespace esker {

namespace {

constexpr uchar kVersion = 1;
constexpr size_t kHeadBytes = 3;
// The length before a text, and the odd bits of a BIT.
constexpr size_t kBesideMax = 4;

}  // namespace

RowCodec::RowCodec(TABLE *table, std::vector<ColumnDefault> added)
    : table_(table), added_(std::move(added)) {
  for (Field **field = table->field; *field; field++) {
    if ((*field)->stored_in_db()) stored_.push_back(*field);
  }
}

ColumnDefault RowCodec::default_of(TABLE *table, Field *field) {
  const ptrdiff_t offset = table->s->default_values - table->record[0];
  if (field->is_real_null(offset)) return {true, {}};
  field->move_field_offset(offset);
  std::string value(kBesideMax + field->pack_length(), '\0');
  uchar *begin = reinterpret_cast<uchar *>(&value[0]);
  const uchar *end = field->pack(begin, field->ptr, UINT_MAX);
  field->move_field_offset(-offset);
  value.resize(static_cast<size_t>(end - begin));
  return {false, value};
}

size_t RowCodec::packed_max(const uchar *record) const {
  const ptrdiff_t offset = record - table_->record[0];
  size_t sum = 0;
  for (Field *field : stored_) {
    const auto *blob = dynamic_cast<const Field_blob *>(field);
    sum += kBesideMax + (blob && !field->is_real_null(offset) ? blob->get_length(offset)
                                                              : field->pack_length());
  }
  return sum;
}

void RowCodec::pack(const uchar *record, std::string *row) const {
  const ptrdiff_t offset = record - table_->record[0];
  const size_t nulls = (stored_.size() + 7) / 8;
  row->assign(kHeadBytes + nulls + packed_max(record), '\0');
  uchar *begin = reinterpret_cast<uchar *>(&(*row)[0]);
  begin[0] = kVersion;
  begin[1] = static_cast<uchar>(stored_.size() >> 8);
  begin[2] = static_cast<uchar>(stored_.size());
  uchar *to = begin + kHeadBytes + nulls;
  for (size_t at = 0; at < stored_.size(); at++) {
    Field *field = stored_[at];
    if (field->is_real_null(offset)) {
      begin[kHeadBytes + at / 8] |= static_cast<uchar>(1 << at % 8);
      continue;
    }
    field->move_field_offset(offset);
    to = field->pack(to, field->ptr, UINT_MAX);
    field->move_field_offset(-offset);
  }
  row->resize(static_cast<size_t>(to - begin));
}

// As the server's own empty row has it.
void RowCodec::put_null(Field *field, uchar *record) const {
  field->set_null(record - table_->record[0]);
  const size_t place = field->ptr - table_->record[0];
  memcpy(record + place, table_->s->default_values + place, field->pack_length_in_rec());
}

bool RowCodec::unpack(const uchar *row, size_t length, uchar *record) const {
  if (length < kHeadBytes || row[0] != kVersion || added_.size() > stored_.size()) return false;
  const size_t count = static_cast<size_t>(row[1]) << 8 | row[2];
  const size_t nulls = (count + 7) / 8, oldest = stored_.size() - added_.size();
  if (count < oldest || count > stored_.size() || length < kHeadBytes + nulls) return false;
  const ptrdiff_t offset = record - table_->record[0];
  const uchar *end = row + length;
  const uchar *from = row + kHeadBytes + nulls;
  // Bits that no column has are those of the server's own empty row.
  memcpy(record, table_->s->default_values, table_->s->null_bytes);
  for (size_t at = 0; at < stored_.size(); at++) {
    Field *field = stored_[at];
    const ColumnDefault *missing = at < count ? nullptr : &added_[at - oldest];
    if (missing ? missing->is_null : (row[kHeadBytes + at / 8] & 1 << at % 8) != 0) {
      if (!field->real_maybe_null()) return false;
      put_null(field, record);
      continue;
    }
    field->set_notnull(offset);
    const uchar *value = missing ? reinterpret_cast<const uchar *>(missing->value.data()) : from;
    const uchar *value_end = missing ? value + missing->value.size() : end;
    // A BLOB's own function writes to where the field is, and not where it is told to.
    field->move_field_offset(offset);
    value = field->unpack(field->ptr, value, value_end, 0);
    field->move_field_offset(-offset);
    if (!value || (missing && value != value_end)) return false;
    if (!missing) from = value;
  }
  return from == end;
}

}  // namespace esker
