// The keys of one index as bytes whose order under memcmp is the order of the index.

#include "key_codec.h"

#include <algorithm>

namespace esker {

namespace {

constexpr size_t kRowIdBytes = 8;

void flip(std::string *key, size_t from) {
  for (size_t at = from; at < key->size(); at++) (*key)[at] = static_cast<char>(~(*key)[at]);
}

// Integers and times whose bytes stand in the order of the machine: the rest is big-endian already.
bool is_little_endian(const Field *field) {
  switch (field->real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_YEAR:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET:
      return true;
    default:
      return false;
  }
}

bool is_signed(const Field *field) {
  switch (field->real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
      return !(field->flags & UNSIGNED_FLAG);
    default:
      return false;
  }
}

}  // namespace

std::string successor(std::string key) {
  while (!key.empty() && static_cast<uchar>(key.back()) == 0xff) key.pop_back();
  if (!key.empty()) key.back()++;
  return key;
}

ulonglong row_id_in(std::string_view row_key) {
  ulonglong id = 0;
  for (size_t at = KeyCodec::kIndexBytes; at < row_key.size(); at++) {
    id = id << 8 | static_cast<uchar>(row_key[at]);
  }
  return id;
}

KeyCodec::Kind KeyCodec::kind_of(const Field *field) {
  // UUID, INET6 and what else comes as a plugin have a text's type, but no text.
  const bool is_text = dynamic_cast<const Field_string *>(field) ||
                       dynamic_cast<const Field_varstring *>(field) ||
                       dynamic_cast<const Field_blob *>(field);
  return is_text ? kText : kNumber;
}

const char *KeyCodec::refusal(const Field *field) {
  if (!field->stored_in_db()) return "a key over a virtual column";
  if (field->type() == MYSQL_TYPE_GEOMETRY) return "a key over a geometry";
  if (kind_of(field) == kText && !KeyText(field->charset()).is_known()) {
    return "a key over a text whose collation orders unlike its weights";
  }
  return nullptr;
}

// The case of a text is not in its key, unless characters are ordered as numbers; nor are the
// spaces at the end of a VARCHAR, where they do not count. Of a CHAR they are none of the value.
bool KeyCodec::is_restorable(const Field *field, uint length) {
  if (length != field->key_length()) return false;
  if (kind_of(field) == kText) {
    const CHARSET_INFO *collation = field->charset();
    const bool has_end =
        !dynamic_cast<const Field_varstring *>(field) || collation->state & MY_CS_NOPAD;
    return KeyText::gives_back(collation) && has_end && !dynamic_cast<const Field_blob *>(field);
  }
  switch (field->real_type()) {
    case MYSQL_TYPE_NEWDECIMAL:
    case MYSQL_TYPE_TIMESTAMP2:
    case MYSQL_TYPE_DATETIME2:
    case MYSQL_TYPE_TIME2:
    case MYSQL_TYPE_BIT:
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
    case MYSQL_TYPE_STRING:  // UUID and INET6: no text comes to here
      return true;
    default:
      return is_little_endian(field);
  }
}

KeyCodec::KeyCodec(TABLE *table, uint index, uint32 number) : table_(table), number_(number) {
  is_of_rows_ = index == MAX_KEY || index == table->s->primary_key;
  if (index == MAX_KEY) {
    parts_.push_back({kRowId, nullptr, 0, 0, kRowIdBytes, false, false, nullptr});
    return;
  }
  const KEY &key = table->key_info[index];
  user_parts_ = key.user_defined_key_parts;
  is_unique_ = table->s->key_info[index].flags & HA_NOSAME;
  is_nullable_ = table->s->key_info[index].flags & HA_NULL_PART_KEY;
  for (uint part = 0; part < user_parts_; part++) add_part(key.key_part[part]);
  const uint primary = table->s->primary_key;
  if (primary == MAX_KEY) {
    parts_.push_back({kRowId, nullptr, 0, 0, kRowIdBytes, false, false, nullptr});
  }
  for (const uint part : rest_of(table, index)) add_part(table->key_info[primary].key_part[part]);
}

// A part of which the index has another length is lacked. What the server itself knows of the rest
// (`ext_key_parts`) are the first of these, as far as all are whole columns and fit into a key.
std::vector<uint> KeyCodec::rest_of(const TABLE *table, uint index) {
  std::vector<uint> rest;
  const uint primary = table->s->primary_key;
  if (primary == MAX_KEY || primary == index) return rest;
  const KEY &wanted = table->key_info[primary], &key = table->key_info[index];
  for (uint at = 0; at < wanted.user_defined_key_parts; at++) {
    const KEY_PART_INFO &part = wanted.key_part[at];
    const KEY_PART_INFO *begin = key.key_part, *end = begin + key.user_defined_key_parts;
    const bool is_there = std::any_of(begin, end, [&part](const KEY_PART_INFO &have) {
      return have.fieldnr == part.fieldnr && have.length == part.length;
    });
    if (!is_there) rest.push_back(at);
  }
  return rest;
}

void KeyCodec::add_part(const KEY_PART_INFO &part) {
  Field *field = table_->field[part.fieldnr - 1];
  Part made{kind_of(field), field, part.length, 0, 0, false, is_restorable(field, part.length),
            nullptr};
  made.is_reversed = part.key_part_flag & HA_REVERSE_SORT;
  if (made.kind == kText) {
    made.chars_max = part.length / field->charset()->mbmaxlen;
    made.text = std::make_shared<KeyText>(field->charset());
    made.blob = dynamic_cast<const Field_blob *>(field);
    made.variable = dynamic_cast<const Field_varstring *>(field);
  } else {
    made.bytes = field->sort_length();
  }
  parts_.push_back(made);
}

void KeyCodec::append_number(std::string *key) const {
  for (int shift = 24; shift >= 0; shift -= 8) key->push_back(static_cast<char>(number_ >> shift));
}

void KeyCodec::append(const uchar *record, ulonglong row_id, uint first, uint last,
                      std::string *key) const {
  const ptrdiff_t offset = record - table_->record[0];
  for (uint at = first; at < last; at++) {
    const Part &part = parts_[at];
    if (part.kind != kRowId) {
      append_part(part, offset, key);
      continue;
    }
    for (int shift = 56; shift >= 0; shift -= 8) key->push_back(static_cast<char>(row_id >> shift));
  }
}

namespace {

// A field that looks at another record for as long as this lives: several functions of fields take
// no place, but use their own.
class Moved {
 public:
  Moved(Field *field, ptrdiff_t offset) : field_(field), offset_(offset) {
    field_->move_field_offset(offset_);
  }
  ~Moved() { field_->move_field_offset(-offset_); }
  Moved(const Moved &) = delete;
  Moved &operator=(const Moved &) = delete;

 private:
  Field *field_;
  ptrdiff_t offset_;
};

}  // namespace

void KeyCodec::append_part(const Part &part, ptrdiff_t offset, std::string *key) const {
  Field *field = part.field;
  const size_t from = key->size();
  const bool is_null = field->is_real_null(offset);
  if (field->real_maybe_null()) key->push_back(is_null ? 0 : 1);
  if (!is_null) {
    const Moved moved(field, offset);
    if (part.kind == kNumber) {
      key->resize(key->size() + part.bytes);
      uchar *room = reinterpret_cast<uchar *>(&(*key)[key->size() - part.bytes]);
      field->sort_string(room, static_cast<uint>(part.bytes));
    } else if (const Field_blob *blob = part.blob) {
      const uchar *text = blob->get_ptr();
      part.text->append(text ? text : field->ptr, text ? blob->get_length() : 0, part.chars_max,
                        key);
    } else if (const Field_varstring *variable = part.variable) {
      part.text->append(field->ptr + variable->length_bytes, variable->get_length(),
                        part.chars_max, key);
    } else {
      // What fills a CHAR up is no part of it, whatever its collation says of spaces. It is cut
      // first: where a key of the server's was put back, there is nothing behind what counts.
      CHARSET_INFO *collation = field->charset();
      const char *text = reinterpret_cast<const char *>(field->ptr);
      const size_t length = field->pack_length();
      const size_t cut = collation->charpos(text, text + length, part.chars_max);
      const size_t used = std::min(length, cut);
      part.text->append(field->ptr, field->has_charset() ? collation->lengthsp(text, used) : used,
                        part.chars_max, key);
    }
  }
  if (part.is_reversed) flip(key, from);
}

bool KeyCodec::is_whole(const uchar *record) const {
  if (!is_unique_) return false;
  if (!is_nullable_) return true;
  const ptrdiff_t offset = record - table_->record[0];
  for (uint part = 0; part < user_parts_; part++) {
    if (parts_[part].field->is_real_null(offset)) return false;
  }
  return true;
}

size_t KeyCodec::skip_part(const Part &part, const uchar *key, size_t length) {
  const uchar mask = part.is_reversed ? 0xff : 0;
  size_t marker = 0;
  if (part.field && part.field->real_maybe_null()) {
    if (length < 1 || (key[0] ^ mask) > 1) return 0;
    if ((key[0] ^ mask) == 0) return 1;
    marker = 1;
  }
  if (part.kind != kText) return part.bytes + marker <= length ? part.bytes + marker : 0;
  size_t used;
  if (part.is_reversed) {
    std::string straight(reinterpret_cast<const char *>(key), length);
    flip(&straight, 0);
    used = part.text->skip(reinterpret_cast<const uchar *>(straight.data()) + marker,
                           length - marker);
  } else {
    used = part.text->skip(key + marker, length - marker);
  }
  return used ? used + marker : 0;
}

bool KeyCodec::cut(const uchar *key, size_t length, std::vector<size_t> *starts) const {
  starts->clear();
  size_t at = kIndexBytes;
  if (length < at) return false;
  for (const Part &part : parts_) {
    starts->push_back(at);
    const size_t used = skip_part(part, key + at, length - at);
    if (used == 0) return false;
    at += used;
  }
  starts->push_back(at);
  return at == length;
}

bool KeyCodec::append_primary(const KeyCodec &primary, const uchar *key,
                              const std::vector<size_t> &starts, std::string *row) const {
  primary.append_number(row);
  for (const Part &wanted : primary.parts_) {
    size_t at = 0;
    while (at < parts_.size() && !(parts_[at].field == wanted.field &&
                                   (!wanted.field || parts_[at].length == wanted.length))) {
      at++;
    }
    if (at == parts_.size()) return false;
    const size_t from = row->size();
    row->append(reinterpret_cast<const char *>(key) + starts[at], starts[at + 1] - starts[at]);
    if (parts_[at].is_reversed != wanted.is_reversed) flip(row, from);
  }
  return true;
}

bool KeyCodec::is_restorable() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part &part) { return part.is_restorable; });
}

bool KeyCodec::restore(const uchar *key, const std::vector<size_t> &starts, uchar *record) const {
  bool is_done = true;
  for (uint at = 0; at < parts_.size(); at++) {
    if (!parts_[at].is_restorable) continue;
    is_done &= restore_part(parts_[at], key + starts[at], starts[at + 1] - starts[at], record);
  }
  return is_done;
}

// BINARY and VARBINARY: 00 FF is 00, and 00 00 the end.
void KeyCodec::restore_bytes(Field *field, const uchar *key, size_t length, uchar mask,
                             uchar *record) {
  uchar *to = field->ptr + (record - field->table->record[0]);
  const auto *variable = dynamic_cast<const Field_varstring *>(field);
  uchar *begin = variable ? to + variable->length_bytes : to;
  uchar *end = begin;
  const uchar *const room = begin + field->field_length;
  for (size_t at = 0; at + 2 < length && end < room; at++) {
    *end = key[at] ^ mask;
    if (*end++ == 0) at++;
  }
  if (!variable) return;
  const size_t used = static_cast<size_t>(end - begin);
  to[0] = static_cast<uchar>(used);
  if (variable->length_bytes > 1) to[1] = static_cast<uchar>(used >> 8);
}

namespace {

// The server flips all bits of a negative one, and makes the exponent of a positive one greater by
// one. A zero has no sign there: false.
bool restore_float(const uchar *image, size_t length, uchar *to) {
  const bool is_negative = !(image[0] & 0x80);
  const uint exponent_one = length == sizeof(float) ? 0x80 : 0x10;
  uint head = (image[0] << 8 | image[1]) & 0x7fff;
  if (!is_negative && head < exponent_one) return false;
  head = is_negative ? ~head : head - exponent_one;
  for (size_t at = 2; at < length; at++) {
    to[length - 1 - at] = is_negative ? static_cast<uchar>(~image[at]) : image[at];
  }
  to[length - 1] = static_cast<uchar>((head >> 8 & 0x7f) | (is_negative ? 0x80 : 0));
  to[length - 2] = static_cast<uchar>(head);
  return true;
}

}  // namespace

// Text of a character set, which is stored as the server stores it.
void KeyCodec::restore_text(const Part &part, const uchar *key, size_t length, ptrdiff_t offset) {
  std::string straight(reinterpret_cast<const char *>(key), length), text;
  if (part.is_reversed) flip(&straight, 0);
  part.text->restore(reinterpret_cast<const uchar *>(straight.data()), length, &text);
  const Moved moved(part.field, offset);
  part.field->store(text.data(), text.size(), part.field->charset());
}

bool KeyCodec::restore_part(const Part &part, const uchar *key, size_t length, uchar *record) {
  Field *field = part.field;
  const ptrdiff_t offset = record - field->table->record[0];
  const uchar mask = part.is_reversed ? 0xff : 0;
  if (field->real_maybe_null()) {
    if ((key[0] ^ mask) == 0) {
      field->set_null(offset);
      return true;
    }
    field->set_notnull(offset);
    key++;
    length--;
  }
  if (part.kind == kText) {
    if (field->charset() == &my_charset_bin) {
      restore_bytes(field, key, length, mask, record);
    } else {
      restore_text(part, key, length, offset);
    }
    return true;
  }
  uchar *to = field->ptr + offset;
  const enum_field_types type = field->real_type();
  if (type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_DOUBLE || type == MYSQL_TYPE_BIT) {
    uchar image[sizeof(double)];
    for (size_t at = 0; at < length; at++) image[at] = key[at] ^ mask;
    if (type != MYSQL_TYPE_BIT) return restore_float(image, length, to);
    // Some of its bits may lie among those that say what is NULL.
    const Moved moved(field, offset);
    field->store(reinterpret_cast<const char *>(image), length, &my_charset_bin);
    return true;
  }
  const bool is_turned = is_little_endian(field);
  for (size_t at = 0; at < length; at++) {
    uchar byte = key[at] ^ mask;
    if (at == 0 && is_signed(field)) byte ^= 0x80;
    to[is_turned ? length - 1 - at : at] = byte;
  }
  return true;
}

size_t KeyCodec::length_max() const {
  size_t sum = kIndexBytes;
  for (const Part &part : parts_) {
    sum += 1 + (part.kind == kText ? part.text->length_max(part.length) : part.bytes);
  }
  return sum;
}

}  // namespace esker
