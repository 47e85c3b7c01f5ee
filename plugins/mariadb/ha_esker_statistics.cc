// What the optimizer is told of a table: how many rows it has, how many lie in a range, and how many
// have the same key.

#include "ha_esker.h"

#include <algorithm>

using esker::catalog;
using esker::guarded;
using esker::IndexStatistics;

namespace {

// What is read of an index for its statistics, when a table is opened that has none, or has come to
// another size since: some milliseconds' worth. ANALYZE TABLE reads more.
constexpr size_t kPlacesFew = 8;
constexpr size_t kEntriesFew = 1600;
constexpr size_t kPlacesMany = 64;
constexpr size_t kEntriesMany = 65536;

// Statistics of so few rows are not kept: they are had again as fast.
constexpr ulonglong kRowsKept = 64;

// Parts of a table's bytes, in which it is told how many of them are of rows.
constexpr ulonglong kParts = 1 << 20;

// Until a table has grown or shrunk by such a part, as many of its bytes are of rows as before.
constexpr ulonglong kNearDivisor = 8;

bool is_near(ulonglong bytes, ulonglong then) {
  const ulonglong most = bytes / kNearDivisor;
  return bytes < then ? then - bytes < most : bytes - then < most;
}

}  // namespace

int ha_esker::info(uint flags) {
  return guarded([&] {
    if (flags & HA_STATUS_VARIABLE) {
      if (const int code = measure()) return esker::handler_error(code);
    }
    if (flags & HA_STATUS_VARIABLE && is_out_of_date()) {
      // Whoever comes first samples for all.
      std::unique_lock<std::mutex> turn(share_->statistics_turn, std::try_to_lock);
      if (turn.owns_lock()) {
        try_sample();
        tell_statistics();
      }
    }
    if (flags & HA_STATUS_CONST) {
      std::lock_guard<std::mutex> turn(share_->statistics_turn);
      tell_statistics();
    }
    if (flags & HA_STATUS_ERRKEY) {
      const uint noted = session_ ? session_->duplicate(ha_thd()) : MAX_KEY;
      errkey = noted < table->s->keys ? noted : duplicate_;
    }
    if (flags & HA_STATUS_AUTO && table->found_next_number_field) {
      if (const int error = prepare_counter()) return error;
      stats.auto_increment_value = share_->counter->next();
    }
    return 0;
  });
}

// How many rows there are, and what they and the entries of other indexes take. All entries of the
// keyspace are counted where they are written, in memory and in files; of a range of them the number
// is a guess. Each row has one in each index. A code of esker/c.h.
int ha_esker::measure() {
  uint64_t disk = 0, memory = 0, entries = 0;
  int code = esker_approximate(share_->keyspace, nullptr, 0, nullptr, 0, &disk, &memory, &entries);
  const ulonglong all = disk + memory;
  if (!code && !is_near(all, share_->measured_bytes)) code = measure_rows(all);
  if (code) return code;
  const size_t indexes = keys_.size() + (table->s->primary_key == MAX_KEY);
  // Of fewer than two rows the server takes it as certain.
  stats.records = std::max<ha_rows>(entries / indexes, 2);
  stats.deleted = 0;
  // The product of two doubles, for that of the numbers may be too large.
  const double share = static_cast<double>(share_->parts_of_rows) / kParts;
  stats.data_file_length = std::min(static_cast<ulonglong>(static_cast<double>(all) * share), all);
  stats.index_file_length = all - stats.data_file_length;
  stats.mean_rec_length = static_cast<ulong>(stats.data_file_length / stats.records);
  return ESKER_OK;
}

// How many of so many bytes are of rows, for all who have the table open. The server has every
// statement measure, and this looks at some hundred places of an index in memory, and at one of each
// file. Two at once may leave the one's bytes and the other's part: both are near. A code of
// esker/c.h.
int ha_esker::measure_rows(ulonglong all) {
  uint64_t disk = 0, memory = 0;
  std::string lower;
  row_keys_->append_number(&lower);
  const std::string upper = esker::successor(lower);
  const int code = esker_approximate(share_->keyspace, lower.data(), lower.size(), upper.data(),
                                     upper.size(), &disk, &memory, nullptr);
  if (code) return code;
  const double share = static_cast<double>(disk + memory) / static_cast<double>(std::max(all, 1ULL));
  share_->parts_of_rows = static_cast<ulonglong>(std::min(share, 1.0) * kParts);
  share_->measured_bytes = all;
  return ESKER_OK;
}

// Rows in the order of the primary key lie side by side: a range of them costs its share of a scan,
// and not a look-up a row, as the server takes it.
double ha_esker::read_time(uint index, uint ranges, ha_rows rows) {
  if (index != table->s->primary_key || rows <= 2) return handler::read_time(index, ranges, rows);
  const double share = static_cast<double>(rows) / static_cast<double>(stats.records);
  return ranges + std::min(share, 1.0) * scan_time();
}

ha_rows ha_esker::records_in_range(uint index, const key_range *lower, const key_range *upper,
                                   page_range *) {
  ha_rows rows = HA_POS_ERROR;
  guarded([&] { return estimate(index, lower, upper, &rows); });
  return rows;
}

int ha_esker::estimate(uint index, const key_range *lower, const key_range *upper, ha_rows *rows) {
  std::string first, last;
  bounds_of(index, lower, upper, &first, &last);
  ulonglong keys = 0;
  const int code = esker::count_keys(share_->keyspace, first, last, &keys);
  *rows = code ? HA_POS_ERROR : std::max<ha_rows>(keys, 1);
  return 0;
}

int ha_esker::analyze(THD *, HA_CHECK_OPT *) {
  const int error = guarded([&] {
    std::lock_guard<std::mutex> turn(share_->statistics_turn);
    const int failure = sample(kPlacesMany, kEntriesMany);
    if (!failure) tell_statistics();
    return failure;
  });
  return error ? HA_ADMIN_FAILED : HA_ADMIN_OK;
}

// The table is opened: its statistics as they were kept, or such as can be had at once.
int ha_esker::begin_statistics() {
  std::lock_guard<std::mutex> turn(share_->statistics_turn);
  if (share_->statistics.size() != keys_.size()) {
    share_->statistics.assign(keys_.size(), IndexStatistics());
    bool is_there = true;
    for (uint index = 0; index < keys_.size(); index++) {
      IndexStatistics &statistics = share_->statistics[index];
      is_there &= !esker::read_statistics(catalog->records(), share_->record.number,
                                          codec(index).number(), &statistics) &&
                  statistics.alike.size() == codec(index).parts();
      share_->sampled_rows = statistics.rows;
    }
    if (!is_there) try_sample();
  }
  tell_statistics();
  return 0;
}

// Whether the table has come to twice or half the size since it was sampled.
bool ha_esker::is_out_of_date() const {
  const ulonglong then = share_->sampled_rows, now = stats.records;
  return !keys_.empty() && (now > 2 * then + kRowsKept || then > 2 * now + kRowsKept);
}

// Few places; where an index cannot be read, those who do not come by it are not to be refused.
void ha_esker::try_sample() {
  if (const int error = sample(kPlacesFew, kEntriesFew)) {
    sql_print_warning("ESKER: statistics of %s cannot be had: error %d", share_->name.c_str(),
                      error);
  }
}

// Reads samples of all indexes, and keeps what they say. Needs the turn.
int ha_esker::sample(size_t places, size_t entries) {
  // By the count that they are held against: what was overwritten is in it, and in no sample.
  if (const int code = measure()) return esker::handler_error(code);
  share_->sampled_rows = stats.records;
  for (uint index = 0; index < keys_.size(); index++) {
    IndexStatistics statistics;
    const int code =
        esker::sample_index(share_->keyspace, codec(index), {places, entries}, &statistics);
    if (code) return esker::handler_error(code);
    if (index < share_->statistics.size()) share_->statistics[index] = statistics;
    if (statistics.rows < kRowsKept || share_->record.is_temporary) continue;
    // Where nothing can be written, tables are read all the same.
    esker::write_statistics(catalog->db(), catalog->records(), share_->record.number,
                            codec(index).number(), statistics);
  }
  return 0;
}

// To the server, whose numbers are those of all that have the table open. Needs the turn.
void ha_esker::tell_statistics() {
  for (uint index = 0; index < table->s->keys; index++) {
    KEY &key = table->key_info[index];
    const std::vector<ulonglong> &alike = share_->statistics[index].alike;
    const size_t known = std::min<size_t>(key.ext_key_parts, alike.size());
    for (size_t part = 0; part < known; part++) {
      key.rec_per_key[part] = static_cast<ulong>(alike[part]);
    }
    if (key.flags & HA_NOSAME) key.rec_per_key[key.user_defined_key_parts - 1] = 1;
  }
}
