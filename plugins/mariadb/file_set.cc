// A set of sorted files that is being written, to be taken into a table's keyspace.

#include "file_set.h"

#include <cstring>
#include <filesystem>

namespace esker {

namespace {

// Large enough for the hand-over, some microseconds, to be nothing beside a batch's compression.
constexpr size_t kBatchBytes = 256 << 10;
// A thread for less is not worth its start; a load into many partitions has many small sets.
constexpr size_t kAloneBytes = 4 << 20;
constexpr int kThreadsMax = 16;

std::atomic<int> threads{0};

struct Head {
  uint32 key_bytes, value_bytes;
  uint64_t unix_ms;
};

}  // namespace

FileSet::~FileSet() {
  end_thread();
  esker_sst_writer_free(writer_);
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

// A code of esker/c.h.
int FileSet::begin() {
  directory_ = catalog_->load_directory();
  esker_keyspace_options *options = nullptr;
  int code = catalog_->file_options(table_, &options);
  if (!code) code = esker_sst_writer_new(directory_.c_str(), options, &writer_);
  esker_keyspace_options_free(options);
  return code;
}

int FileSet::tell(int code, const char *said) const {
  if (!code) return 0;
  sql_print_error("ESKER: loading sorted files: %s", said);
  const int error = handler_error(code);
  // What the store says to this thread may be of another call; only here is it known why.
  if (has_no_words(error)) my_error(ER_GET_ERRMSG, MYF(0), error, said, "ESKER");
  return error;
}

int FileSet::put(std::string_view key, std::string_view value, uint64_t unix_ms) {
  if (!writer_) {
    if (const int code = begin()) return tell(code, esker_errmsg());
  }
  last_key_ = key;
  const Head head{static_cast<uint32>(key.size()), static_cast<uint32>(value.size()), unix_ms};
  batch_.append(reinterpret_cast<const char *>(&head), sizeof head);
  batch_.append(key);
  batch_.append(value);
  return batch_.size() < kBatchBytes ? 0 : hand_over();
}

// The batch is written, or is going to be.
int FileSet::hand_over() {
  bytes_ += batch_.size();
  if (!thread_.joinable() && bytes_ > kAloneBytes) begin_thread();
  if (!thread_.joinable()) {
    std::string said;
    const int code = write(batch_, &said);
    batch_.clear();
    return tell(code, said.c_str());
  }
  {
    std::unique_lock<std::mutex> turn(turn_);
    changed_.wait(turn, [this] { return handed_.empty() || code_; });
    if (code_) return tell(code_, said_.c_str());
    handed_.swap(batch_);
  }
  changed_.notify_all();
  batch_.clear();
  return 0;
}

// A code of esker/c.h, with why.
int FileSet::write(const std::string &batch, std::string *said) {
  for (size_t at = 0; at < batch.size();) {
    Head head;
    memcpy(&head, batch.data() + at, sizeof head);
    const char *key = batch.data() + at + sizeof head, *value = key + head.key_bytes;
    const int code = esker_sst_writer_put(writer_, key, head.key_bytes, value, head.value_bytes,
                                          head.unix_ms);
    if (code) {
      *said = esker_errmsg();
      return code;
    }
    at += sizeof head + head.key_bytes + head.value_bytes;
  }
  return ESKER_OK;
}

// Where there can be no thread, who puts entries writes them.
void FileSet::begin_thread() {
  if (threads.fetch_add(1) < kThreadsMax) {
    try {
      thread_ = std::thread([this] { run(); });
      return;
    } catch (const std::exception &) {
      bytes_ = 0;
    }
  }
  threads--;
}

void FileSet::end_thread() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> turn(turn_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
  threads--;
}

void FileSet::run() {
  std::string batch, said;
  for (;;) {
    {
      std::unique_lock<std::mutex> turn(turn_);
      changed_.wait(turn, [this] { return !handed_.empty() || is_over_; });
      if (handed_.empty()) return;
      batch.swap(handed_);
    }
    changed_.notify_all();
    int code = ESKER_OK;
    const int failure = guarded([&] {
      code = write(batch, &said);
      return 0;
    });
    batch.clear();
    crash_at("in load thread");
    if (!code && !failure) continue;
    {
      std::lock_guard<std::mutex> turn(turn_);
      code_ = code ? code : ESKER_OTHER;
      said_.swap(said);
    }
    changed_.notify_all();
    return;
  }
}

int FileSet::take_in(const esker_keyspace *keyspace) {
  if (!writer_) return 0;
  if (const int error = batch_.empty() ? 0 : hand_over()) return error;
  end_thread();
  if (code_) return tell(code_, said_.c_str());
  crash_at("before files");
  int code = esker_sst_writer_finish(writer_, nullptr);
  esker_sst_writer_free(writer_);
  writer_ = nullptr;
  crash_at("after files");
  const char *directory = directory_.c_str();
  // They were written a moment ago, and are held against their checksums whenever they are read.
  constexpr uint32 how = ESKER_MOVE | ESKER_UNCHECKED;
  if (!code) code = esker_ingest(catalog_->db(), &keyspace, &directory, 1, how, nullptr);
  crash_at("after ingest");
  return tell(code, esker_errmsg());
}

}  // namespace esker
