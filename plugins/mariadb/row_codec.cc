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

RowCodec::RowCodec(TABLE *table, std::vector<ColumnDefault> added,
                   const std::vector<DroppedColumn> &dropped)
    : table_(table), added_(std::move(added)) {
  auto next = dropped.begin();
  const auto put_dropped = [&] {
    for (; next != dropped.end() && next->place == columns_.size(); next++) {
      columns_.push_back({nullptr, nullptr, *next});
    }
  };
  for (Field **field = table->field; *field; field++) {
    if (!(*field)->stored_in_db()) continue;
    put_dropped();
    columns_.push_back({*field, dynamic_cast<const Field_blob *>(*field), {}});
  }
  put_dropped();
}

// Texts have their length before them, in as many bytes as the longest needs.
DroppedColumn RowCodec::form_of(const Field *field) {
  if (const auto *blob = dynamic_cast<const Field_blob *>(field)) {
    return {0, blob->pack_length_no_ptr(), 0};
  }
  const bool is_text = dynamic_cast<const Field_varstring *>(field) ||
                       // UUID and INET6 among them.
                       field->real_type() == MYSQL_TYPE_STRING;
  if (!is_text) return {0, 0, field->pack_length()};
  const auto *variable = dynamic_cast<const Field_varstring *>(field);
  const uint32 longest = variable ? variable->field_length : field->pack_length();
  return {0, longest > 255 ? 2U : 1U, 0};
}

const uchar *RowCodec::skip(const DroppedColumn &form, const uchar *from, const uchar *end) {
  size_t length = form.bytes;
  if (form.length_bytes) {
    if (static_cast<size_t>(end - from) < form.length_bytes) return nullptr;
    length = 0;
    for (uint at = form.length_bytes; at > 0; at--) length = length << 8 | from[at - 1];
    from += form.length_bytes;
  }
  return static_cast<size_t>(end - from) < length ? nullptr : from + length;
}

uint RowCodec::place_of(const Field *field) const {
  uint place = 0;
  while (place < columns_.size() && columns_[place].field != field) place++;
  return place;
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
  for (const Column &column : columns_) {
    Field *field = column.field;
    if (!field) continue;
    const Field_blob *blob = column.blob;
    sum += kBesideMax + (blob && !field->is_real_null(offset) ? blob->get_length(offset)
                                                              : field->pack_length());
  }
  return sum;
}

void RowCodec::pack(const uchar *record, std::string *row) const {
  const ptrdiff_t offset = record - table_->record[0];
  const size_t nulls = (columns_.size() + 7) / 8;
  row->assign(kHeadBytes + nulls + packed_max(record), '\0');
  uchar *begin = reinterpret_cast<uchar *>(&(*row)[0]);
  begin[0] = kVersion;
  begin[1] = static_cast<uchar>(columns_.size() >> 8);
  begin[2] = static_cast<uchar>(columns_.size());
  uchar *to = begin + kHeadBytes + nulls;
  for (size_t at = 0; at < columns_.size(); at++) {
    Field *field = columns_[at].field;
    if (!field || field->is_real_null(offset)) {
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
  if (length < kHeadBytes || row[0] != kVersion || added_.size() > columns_.size()) return false;
  const size_t count = static_cast<size_t>(row[1]) << 8 | row[2];
  const size_t nulls = (count + 7) / 8, oldest = columns_.size() - added_.size();
  if (count < oldest || count > columns_.size() || length < kHeadBytes + nulls) return false;
  const ptrdiff_t offset = record - table_->record[0];
  const uchar *end = row + length;
  const uchar *from = row + kHeadBytes + nulls;
  // Bits that no column has are those of the server's own empty row.
  memcpy(record, table_->s->default_values, table_->s->null_bytes);
  for (size_t at = 0; at < columns_.size(); at++) {
    Field *field = columns_[at].field;
    const ColumnDefault *missing = at < count ? nullptr : &added_[at - oldest];
    const bool is_null =
        missing ? missing->is_null : (row[kHeadBytes + at / 8] & 1 << at % 8) != 0;
    if (!field) {
      if (!missing && !is_null) from = skip(columns_[at].form, from, end);
      if (!from) return false;
      continue;
    }
    if (is_null) {
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
