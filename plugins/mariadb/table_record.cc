// What the catalogue writes of one table.

#include "table_record.h"

namespace esker {

namespace {

constexpr char kVersionWithoutNames = 1;
constexpr char kVersion = 2;
constexpr char kVersionWithDropped = 3;
constexpr size_t kDefinitionBytes = 16;

// Takes bytes from the front of what is left.
struct Reader {
  const uchar *from;
  size_t left;
  bool is_good = true;

  const uchar *take(size_t bytes) {
    is_good = is_good && bytes <= left;
    if (!is_good) return nullptr;
    const uchar *taken = from;
    from += bytes;
    left -= bytes;
    return taken;
  }
  ulonglong number(int bytes) {
    const uchar *taken = take(static_cast<size_t>(bytes));
    return taken ? read_number(taken, bytes) : 0;
  }
  std::string text(int length_bytes) {
    const size_t length = number(length_bytes);
    const uchar *taken = take(length);
    return taken ? std::string(reinterpret_cast<const char *>(taken), length) : std::string();
  }
};

}  // namespace

void append_number(std::string *to, ulonglong number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    to->push_back(static_cast<char>(number >> shift));
  }
}

ulonglong read_number(const uchar *from, int bytes) {
  ulonglong number = 0;
  for (int at = 0; at < bytes; at++) number = number << 8 | from[at];
  return number;
}

std::string TableRecord::encode() const {
  const char version = !has_names        ? kVersionWithoutNames
                       : dropped.empty() ? kVersion
                                         : kVersionWithDropped;
  std::string out{version, static_cast<char>(is_temporary)};
  append_number(&out, number, 4);
  append_number(&out, counter, 8);
  if (has_names) {
    out += definition;
    out.append(kDefinitionBytes - definition.size(), '\0');
    append_number(&out, added.size(), 2);
    for (const ColumnDefault &column : added) {
      out.push_back(static_cast<char>(column.is_null));
      append_number(&out, column.value.size(), 4);
      out += column.value;
    }
  }
  if (version == kVersionWithDropped) {
    append_number(&out, dropped.size(), 2);
    for (const DroppedColumn &column : dropped) {
      append_number(&out, column.place, 2);
      append_number(&out, column.length_bytes, 1);
      append_number(&out, column.bytes, 4);
    }
  }
  append_number(&out, indexes.size(), 2);
  for (const TableIndex &index : indexes) {
    append_number(&out, index.number, 4);
    if (!has_names) continue;
    append_number(&out, index.name.size(), 1);
    out += index.name;
  }
  return out;
}

bool TableRecord::decode(const uchar *from, size_t length) {
  Reader reader{from, length};
  const ulonglong version = reader.number(1);
  if (version < kVersionWithoutNames || version > kVersionWithDropped) return false;
  has_names = version != kVersionWithoutNames;
  const ulonglong temporary = reader.number(1);
  is_temporary = temporary;
  number = static_cast<uint32>(reader.number(4));
  counter = reader.number(8);
  definition.clear();
  added.clear();
  dropped.clear();
  indexes.clear();
  if (has_names) {
    const uchar *version_bytes = reader.take(kDefinitionBytes);
    if (version_bytes) definition.assign(reinterpret_cast<const char *>(version_bytes), 16);
    for (size_t left = reader.number(2); left && reader.is_good; left--) {
      const bool is_null = reader.number(1);
      added.push_back({is_null, reader.text(4)});
    }
  }
  const size_t dropped_count = version == kVersionWithDropped ? reader.number(2) : 0;
  while (dropped.size() < dropped_count && reader.is_good) {
    const auto place = static_cast<uint>(reader.number(2));
    const auto length_bytes = static_cast<uint>(reader.number(1));
    dropped.push_back({place, length_bytes, static_cast<uint32>(reader.number(4))});
  }
  for (size_t left = reader.number(2); left && reader.is_good; left--) {
    const auto index = static_cast<uint32>(reader.number(4));
    indexes.push_back({index, has_names ? reader.text(1) : std::string()});
  }
  return reader.is_good && !reader.left && temporary <= 1 && !indexes.empty();
}

uint32 TableRecord::index(uint place, const char *name) const {
  if (!has_names) return place + 1 < indexes.size() ? indexes[place + 1].number : 0;
  for (size_t at = 1; at < indexes.size(); at++) {
    if (!my_strcasecmp(system_charset_info, indexes[at].name.c_str(), name)) {
      return indexes[at].number;
    }
  }
  return 0;
}

}  // namespace esker
