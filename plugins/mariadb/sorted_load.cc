// Entries of indexes that come in any order, and go into the store as sorted files.

#include "sorted_load.h"

#include <algorithm>
#include <cstring>
#include <queue>

#include <fcntl.h>
#include <unistd.h>

namespace esker {

namespace {

// Of entries that are sorted at a time by one of many loads, as into many partitions.
constexpr size_t kSortedBytesLeast = 1 << 20;
// Of a piece that is read, and of one that is written, at a time.
constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kWrittenBytes = 1 << 20;
// Lengths of key and value (4 each), and the end (8).
constexpr size_t kHeadBytes = 16;
// All keys begin with the number of their index, which few of them differ by.
constexpr size_t kPrefixAt = 4;
// A statement is asked whether it was killed once for so many entries.
constexpr size_t kEntriesPerLook = 1024;

uint64_t prefix_of(std::string_view key) {
  uint64_t prefix = 0;
  for (size_t at = kPrefixAt; at < kPrefixAt + 8; at++) {
    prefix = prefix << 8 | (at < key.size() ? static_cast<uchar>(key[at]) : 0);
  }
  return prefix;
}

int system_error(const char *what) {
  sql_print_error("ESKER: %s: %s", what, strerror(errno));
  return errno == ENOSPC ? HA_ERR_DISK_FULL : HA_ERR_INTERNAL_ERROR;
}

// How many there are.
std::atomic<size_t> loads{0};

// What one load may sort at a time: its share of the setting.
size_t sorted_bytes(THD *thd) {
  const size_t all = sort_memory(thd);
  return std::max(all / loads, std::min(all, kSortedBytesLeast));
}

}  // namespace

// A piece that is merged, one entry after the other.
class SortedLoad::Run {
 public:
  Run(int file, uint64_t begin, uint64_t end) : file_(file), at_(begin), end_(end) {}

  const Entry &entry() const { return entry_; }
  // False, and no error, behind the last.
  bool next(int *error) {
    used_ += size_;
    if (!fill(kHeadBytes, error)) return false;
    uint32 lengths[2];
    memcpy(lengths, bytes_.data() + used_, sizeof lengths);
    size_ = kHeadBytes + lengths[0] + lengths[1];
    if (!fill(size_, error)) return false;
    entry_ = entry_at(bytes_.data() + used_);
    return true;
  }

 private:
  // Has so many bytes at hand.
  bool fill(size_t wanted, int *error) {
    *error = 0;
    if (bytes_.size() - used_ >= wanted) return true;
    if (bytes_.size() == used_ && at_ == end_) return false;
    bytes_.erase(0, used_);
    used_ = 0;
    while (bytes_.size() < wanted) {
      const size_t had = bytes_.size();
      const size_t part = std::min<uint64_t>(std::max(kReadBytes, wanted - had), end_ - at_);
      bytes_.resize(had + part);
      const ssize_t got = pread(file_, &bytes_[had], part, static_cast<off_t>(at_));
      if (got <= 0) {
        *error = system_error("reading a piece that was sorted");
        return false;
      }
      bytes_.resize(had + static_cast<size_t>(got));
      at_ += static_cast<uint64_t>(got);
    }
    return true;
  }

  int file_;
  uint64_t at_, end_;
  std::string bytes_;
  size_t used_ = 0, size_ = 0;
  Entry entry_{};
};

SortedLoad::SortedLoad(THD *thd, Catalog *catalog, uint32 table)
    : thd_(thd), files_(catalog, table) {
  loads++;
}

SortedLoad::~SortedLoad() {
  loads--;
  if (file_ >= 0) close(file_);
}

SortedLoad::Entry SortedLoad::entry_at(const char *from) {
  uint32 lengths[2];
  uint64_t unix_ms;
  memcpy(lengths, from, sizeof lengths);
  memcpy(&unix_ms, from + sizeof lengths, sizeof unix_ms);
  const char *key = from + kHeadBytes;
  return {{key, lengths[0]}, {key + lengths[0], lengths[1]}, unix_ms};
}

int SortedLoad::add(std::string_view key, std::string_view value, uint64_t unix_ms) {
  const size_t size = kHeadBytes + key.size() + value.size();
  if (!places_.empty() && bytes_.size() + size + places_.size() * sizeof(Place) > sorted_bytes(thd_)) {
    if (const int error = spill()) return error;
  }
  places_.push_back({prefix_of(key), bytes_.size()});
  const uint32 lengths[2] = {static_cast<uint32>(key.size()), static_cast<uint32>(value.size())};
  bytes_.append(reinterpret_cast<const char *>(lengths), sizeof lengths);
  bytes_.append(reinterpret_cast<const char *>(&unix_ms), sizeof unix_ms);
  bytes_.append(key);
  bytes_.append(value);
  return 0;
}

void SortedLoad::sort() {
  const char *bytes = bytes_.data();
  std::sort(places_.begin(), places_.end(), [bytes](const Place &left, const Place &right) {
    const char *left_key = bytes + left.at + kHeadBytes;
    const char *right_key = bytes + right.at + kHeadBytes;
    if (const int order = memcmp(left_key, right_key, kPrefixAt)) return order < 0;
    if (left.prefix != right.prefix) return left.prefix < right.prefix;
    return entry_at(bytes + left.at).key < entry_at(bytes + right.at).key;
  });
}

int SortedLoad::write_out(const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t put = write(file_, bytes.data() + done, bytes.size() - done);
    if (put < 0) return system_error("writing a piece that was sorted");
    done += static_cast<size_t>(put);
  }
  file_bytes_ += bytes.size();
  return 0;
}

int SortedLoad::spill() {
  if (file_ < 0) {
    std::string name = std::string(my_tmpdir(&mysql_tmpdir_list)) + "/esker.XXXXXX";
    file_ = mkstemp(&name[0]);
    if (file_ < 0) return system_error("making a file to sort by");
    unlink(name.c_str());
  }
  sort();
  const uint64_t begin = file_bytes_;
  std::string out;
  for (const Place &place : places_) {
    const Entry entry = entry_at(bytes_.data() + place.at);
    out.append(bytes_, place.at, kHeadBytes + entry.key.size() + entry.value.size());
    if (out.size() < kWrittenBytes) continue;
    if (const int error = write_out(out)) return error;
    out.clear();
  }
  if (const int error = write_out(out)) return error;
  runs_.emplace_back(begin, file_bytes_);
  places_.clear();
  bytes_.clear();
  return 0;
}

// The next one in order.
int SortedLoad::take(const Entry &entry) {
  int error = 0;
  if (!files_.is_empty() && files_.last_key() == entry.key) error = HA_ERR_FOUND_DUPP_KEY;
  if (!error && known_) error = known_(entry.key);
  if (error == HA_ERR_FOUND_DUPP_KEY) {
    duplicate_ = entry.key;
    duplicate_value_ = entry.value;
  }
  return error ? error : files_.put(entry.key, entry.value, entry.unix_ms);
}

int SortedLoad::merge() {
  std::vector<Run> runs;
  for (const auto &[begin, end] : runs_) runs.emplace_back(file_, begin, end);
  const auto is_later = [](const Run *left, const Run *right) {
    return right->entry().key < left->entry().key;
  };
  std::priority_queue<Run *, std::vector<Run *>, decltype(is_later)> next(is_later);
  int error = 0;
  for (Run &run : runs) {
    if (run.next(&error)) next.push(&run);
    if (error) return error;
  }
  for (size_t taken = 1; !next.empty(); taken++) {
    if (taken % kEntriesPerLook == 0 && thd_kill_level(thd_)) return HA_ERR_ABORTED_BY_USER;
    Run *run = next.top();
    next.pop();
    error = take(run->entry());
    if (!error && run->next(&error)) next.push(run);
    if (error) return error;
  }
  return 0;
}

int SortedLoad::take_in(const esker_keyspace *keyspace) {
  int error = 0;
  if (!runs_.empty()) {
    if (!places_.empty()) error = spill();
    if (!error) error = merge();
  } else {
    sort();
    for (const Place &place : places_) {
      if (!error) error = take(entry_at(bytes_.data() + place.at));
    }
  }
  return error ? error : files_.take_in(keyspace);
}

}  // namespace esker
