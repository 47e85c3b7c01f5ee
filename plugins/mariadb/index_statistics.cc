// How many entries of an index have the same first columns, found by reading a part of them.

#include "index_statistics.h"

#include <algorithm>

namespace esker {

namespace {

constexpr char kStatistics = 5;
constexpr char kVersion = 1;
constexpr size_t kHead = 11;

// The bytes in which two places of an index are told apart: of more, halving would not find more.
constexpr size_t kPlaceBytes = 8;
constexpr int kHalvings = 20;

// A few are counted at the cost of a look-up; of more, a number that is about right will do.
constexpr ulonglong kCounted = 64;

void append_number(std::string *to, ulonglong number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    to->push_back(static_cast<char>(number >> shift));
  }
}

ulonglong read_number(const uchar *from, size_t bytes) {
  ulonglong number = 0;
  for (size_t at = 0; at < bytes; at++) number = number << 8 | from[at];
  return number;
}

std::string statistics_key(uint32 table, uint32 index) {
  std::string key{kStatistics};
  append_number(&key, table, 4);
  append_number(&key, index, 4);
  return key;
}

// An iterator that is freed with its owner.
class Iterator {
 public:
  Iterator(const esker_keyspace *table, const std::string &lower, const std::string &upper) {
    code_ = esker_iter_new(table, nullptr, lower.data(), lower.size(), upper.data(), upper.size(),
                           0, &it_);
  }
  ~Iterator() { esker_iter_free(it_); }
  Iterator(const Iterator &) = delete;
  Iterator &operator=(const Iterator &) = delete;

  int code() const { return code_; }
  esker_iter *get() const { return it_; }
  std::string_view key() const {
    size_t size = 0;
    const void *key = esker_iter_key(it_, &size);
    return {static_cast<const char *>(key), size};
  }

 private:
  esker_iter *it_ = nullptr;
  int code_;
};

int approximate(const esker_keyspace *table, const std::string &first, const std::string &last,
                ulonglong *keys) {
  uint64_t count = 0;
  const int code = esker_approximate(table, first.data(), first.size(), last.data(), last.size(),
                                     nullptr, nullptr, &count);
  *keys = count;
  return code;
}

// Compares neighbours of an index, column by column.
class Neighbours {
 public:
  explicit Neighbours(const KeyCodec &keys) : keys_(keys), changes_(keys.parts(), 0) {}

  // The next one in the order of the index; false if these are not the bytes of an entry.
  bool add(std::string_view key, const void *value, size_t size) {
    next_.assign(key);
    next_.append(static_cast<const char *>(value), size);
    const auto *bytes = reinterpret_cast<const uchar *>(next_.data());
    if (!keys_.cut(bytes, next_.size(), &starts_)) return false;
    if (has_last_) compare();
    has_last_ = true;
    last_.swap(next_);
    return true;
  }

  // What comes next does not follow what was last.
  void leave() { has_last_ = false; }

  ulonglong pairs() const { return pairs_; }

  // Entries that have so many columns alike, the last one with its number of `parts_`.
  std::vector<ulonglong> alike(ulonglong rows, bool is_all) const {
    std::vector<ulonglong> out;
    for (const ulonglong changes : changes_) {
      // Of all entries, there is one value more than there are changes. Of a part, where none was
      // seen, there may be one value only.
      const ulonglong values = is_all ? changes + 1 : changes;
      const ulonglong entries = is_all ? pairs_ + 1 : pairs_;
      const ulonglong mean = values ? (entries + values / 2) / values : rows;
      out.push_back(std::max<ulonglong>(mean, 1));
    }
    return out;
  }

 private:
  void compare() {
    pairs_++;
    const size_t shared = std::min(last_.size(), next_.size());
    const auto differ = std::mismatch(last_.begin(), last_.begin() + shared, next_.begin());
    const size_t at = differ.first - last_.begin();
    // A column that ends behind the first byte that differs is another one, as are those after it.
    for (size_t part = 0; part < changes_.size(); part++) changes_[part] += starts_[part + 1] > at;
  }

  const KeyCodec &keys_;
  std::vector<ulonglong> changes_;
  std::vector<size_t> starts_;
  std::string last_, next_;
  bool has_last_ = false;
  ulonglong pairs_ = 0;
};

// The bytes of a place between `first` and `last`, of the keys between which `before` are about
// before it.
int place_of(const esker_keyspace *table, const std::string &first, const std::string &last,
             ulonglong before, std::string *place) {
  const size_t shared = std::min(first.size(), last.size());
  const size_t at = std::mismatch(first.begin(), first.begin() + shared, last.begin()).first -
                    first.begin();
  const auto number_at = [at](const std::string &key, char filler) {
    std::string bytes = key.substr(std::min(at, key.size()), kPlaceBytes);
    bytes.resize(kPlaceBytes, filler);
    return read_number(reinterpret_cast<const uchar *>(bytes.data()), kPlaceBytes);
  };
  ulonglong low = number_at(first, 0), high = number_at(last, static_cast<char>(0xff));
  for (int halving = 0; halving < kHalvings && high - low > 1; halving++) {
    const ulonglong middle = low + (high - low) / 2;
    place->assign(first, 0, at);
    append_number(place, middle, kPlaceBytes);
    ulonglong keys = 0;
    if (const int code = approximate(table, first, *place, &keys)) return code;
    (keys < before ? low : high) = middle;
  }
  place->assign(first, 0, at);
  append_number(place, low, kPlaceBytes);
  return ESKER_OK;
}

}  // namespace

int sample_index(const esker_keyspace *table, const KeyCodec &keys, const Sampling &sampling,
                 IndexStatistics *statistics) {
  const auto [places, entries] = sampling;
  std::string lower;
  keys.append_number(&lower);
  const std::string upper = successor(lower);
  ulonglong rows = 0;
  int code = approximate(table, lower, upper, &rows);
  if (code) return code;
  const bool is_all = rows <= entries;
  Iterator all(table, lower, upper);
  code = all.code();
  std::string first, last;
  if (!code) code = esker_iter_seek_to_last(all.get());
  if (!code) last = all.key();
  if (!code) code = esker_iter_seek_to_first(all.get());
  if (!code) first = all.key();
  Neighbours neighbours(keys);
  for (size_t place = 0; !code && place < (is_all ? 1 : places); place++) {
    neighbours.leave();
    if (place > 0) {
      std::string at;
      code = place_of(table, first, last, rows / places * place, &at);
      if (!code) code = esker_iter_seek(all.get(), at.data(), at.size());
    }
    const size_t wanted = is_all ? SIZE_MAX : entries / places;
    for (size_t read = 0; !code && read < wanted; read++) {
      const void *value = nullptr;
      size_t size = 0;
      // The rows themselves have their keys' columns in their keys.
      code = keys.is_of_rows() ? ESKER_OK : esker_iter_value(all.get(), &value, &size);
      if (!code && !neighbours.add(all.key(), value, size)) code = ESKER_CORRUPTION;
      if (!code) code = esker_iter_next(all.get());
    }
    if (code == ESKER_NOT_FOUND) code = ESKER_OK;
  }
  if (code && code != ESKER_NOT_FOUND) return code;
  statistics->rows = is_all ? neighbours.pairs() + 1 : rows;
  statistics->alike = neighbours.alike(rows, is_all);
  return ESKER_OK;
}

int read_statistics(const esker_keyspace *records, uint32 table, uint32 index,
                    IndexStatistics *statistics) {
  const std::string key = statistics_key(table, index);
  esker_value *value = esker_value_new();
  int code = esker_get(records, nullptr, key.data(), key.size(), 0, value);
  size_t size = 0;
  const auto *from = static_cast<const uchar *>(esker_value_data(value, &size));
  const bool is_valid = !code && size >= kHead && from[0] == kVersion &&
                        size == kHead + 8 * read_number(from + 9, 2);
  if (!code && !is_valid) code = ESKER_NOT_FOUND;
  statistics->alike.clear();
  if (!code) statistics->rows = read_number(from + 1, 8);
  for (size_t at = kHead; !code && at < size; at += 8) {
    statistics->alike.push_back(read_number(from + at, 8));
  }
  esker_value_free(value);
  return code;
}

int write_statistics(esker_db *db, const esker_keyspace *records, uint32 table, uint32 index,
                     const IndexStatistics &statistics) {
  const std::string key = statistics_key(table, index);
  std::string value{kVersion};
  append_number(&value, statistics.rows, 8);
  append_number(&value, statistics.alike.size(), 2);
  for (const ulonglong alike : statistics.alike) append_number(&value, alike, 8);
  esker_batch *batch = nullptr;
  int code = esker_batch_new(db, &batch);
  if (!code) {
    code = esker_batch_put(batch, records, key.data(), key.size(), value.data(), value.size());
  }
  // What a crash takes is sampled again.
  if (!code) code = esker_batch_commit(batch, ESKER_BUFFERED);
  esker_batch_free(batch);
  return code;
}

int delete_statistics(esker_batch *batch, const esker_keyspace *records, uint32 table) {
  std::string lower{kStatistics};
  append_number(&lower, table, 4);
  const std::string upper = successor(lower);
  return esker_batch_delete_range(batch, records, lower.data(), lower.size(), upper.data(),
                                  upper.size());
}

int count_keys(const esker_keyspace *table, const std::string &first, const std::string &last,
               ulonglong *keys) {
  *keys = 0;
  if (first >= last) return ESKER_OK;
  {
    const Iterator few(table, first, last);
    int code = few.code() ? few.code() : esker_iter_seek_to_first(few.get());
    for (; !code && *keys < kCounted; code = esker_iter_next(few.get())) ++*keys;
    if (code == ESKER_NOT_FOUND) return ESKER_OK;
    if (code) return code;
  }
  ulonglong about = 0;
  const int code = approximate(table, first, last, &about);
  *keys = std::max(*keys, about);
  return code;
}

}  // namespace esker
