// How rows are written: the row, and one entry in each of the other indexes.
//
// All that must be unique is looked up, and locked by that, before anything is written: a row that
// cannot be written leaves nothing behind but locks. Where it fails later, the server has the
// session undo the statement.

#include "ha_esker.h"

using esker::guarded;

// A table without a primary key has its row's from the last read.
std::string ha_esker::row_key_of(const uchar *record) const {
  if (table->s->primary_key == MAX_KEY) return row_key_;
  std::string key;
  row_keys_->append_number(&key);
  row_keys_->append(record, 0, 0, row_keys_->parts(), &key);
  return key;
}

std::string ha_esker::new_row_key(const uchar *record) {
  if (table->s->primary_key != MAX_KEY) return row_key_of(record);
  std::string key;
  row_keys_->append_number(&key);
  row_keys_->append(record, share_->counter->take_row_id(), 0, 1, &key);
  return key;
}

void ha_esker::split_entry(uint index, const uchar *record, const std::string &row_key,
                           std::string *key, std::string *value) const {
  split(*keys_[index], record, row_key, key, value);
}

void ha_esker::split(const esker::KeyCodec &keys, const uchar *record, const std::string &row_key,
                     std::string *key, std::string *value) {
  // Of a table with a primary key it is something else, or nothing, and is not asked for.
  const bool is_id = row_key.size() == esker::KeyCodec::kIndexBytes + sizeof(ulonglong);
  const ulonglong id = is_id ? esker::row_id_in(row_key) : 0;
  keys.append_number(key);
  keys.append(record, id, 0, keys.user_parts(), key);
  keys.append(record, id, keys.user_parts(), keys.parts(), keys.is_whole(record) ? value : key);
}

// Where others wrote to the key since the snapshot, it is what they left that counts.
int ha_esker::check_unique(uint index, const std::string &key) {
  int code = esker_tx_get_for_update(transaction(), share_->keyspace, key.data(), key.size(),
                                     probe_);
  if (code == ESKER_CONFLICT) {
    code = esker_tx_get(transaction(), share_->keyspace, key.data(), key.size(), ESKER_LATEST,
                        probe_);
    if (code == ESKER_NOT_FOUND) code = ESKER_CONFLICT;
  }
  if (code == ESKER_NOT_FOUND) return 0;
  if (code) return fail(code);
  duplicate_ = index;
  return HA_ERR_FOUND_DUPP_KEY;
}

int ha_esker::put(const std::string &key, const std::string &value) {
  const int code = esker_tx_put(transaction(), share_->keyspace, key.data(), key.size(),
                                value.data(), value.size());
  return code ? fail(code) : 0;
}

int ha_esker::remove(const std::string &key) {
  const int code = esker_tx_delete(transaction(), share_->keyspace, key.data(), key.size());
  return code ? fail(code) : 0;
}

int ha_esker::write_row(const uchar *record) {
  return guarded([&] {
    if (table->next_number_field && record == table->record[0]) {
      if (const int error = update_auto_increment()) return error;
    }
    const std::string row_key = new_row_key(record);
    const uint primary = table->s->primary_key;
    if (load_) {
      std::string row;
      rows_->pack(record, &row);
      return load_row(record, row_key, row);
    }
    if (primary != MAX_KEY) {
      if (const int error = check_unique(primary, row_key)) return error;
    }
    std::vector<std::pair<std::string, std::string>> entries;
    for (uint index = 0; index < keys_.size(); index++) {
      if (index == primary) continue;
      entries.emplace_back();
      auto &[key, value] = entries.back();
      split_entry(index, record, row_key, &key, &value);
      if (!keys_[index]->is_whole(record)) continue;
      if (const int error = check_unique(index, key)) return error;
    }
    std::string row;
    rows_->pack(record, &row);
    session_->wrote();
    if (const int error = put(row_key, row)) return error;
    for (const auto &[key, value] : entries) {
      if (const int error = put(key, value)) return error;
    }
    row_key_ = row_key;
    if (table->next_number_field && record == table->record[0]) {
      if (const int error = note_counter()) return error;
    }
    if (!is_bulk_) return 0;
    size_t bytes = row_key.size() + row.size();
    for (const auto &[key, value] : entries) bytes += key.size() + value.size();
    return note_bulk(bytes);
  });
}

int ha_esker::update_row(const uchar *old_record, const uchar *new_record) {
  return guarded([&] {
    struct Change {
      std::string old_key, old_value, new_key, new_value;
    };
    const uint primary = table->s->primary_key;
    const std::string old_key = row_key_of(old_record), new_key = row_key_of(new_record);
    if (old_key != new_key) {
      if (const int error = check_unique(primary, new_key)) return error;
    }
    std::vector<Change> changes;
    for (uint index = 0; index < keys_.size(); index++) {
      if (index == primary) continue;
      Change change;
      split_entry(index, old_record, old_key, &change.old_key, &change.old_value);
      split_entry(index, new_record, new_key, &change.new_key, &change.new_value);
      const bool is_same = change.old_key == change.new_key && change.old_value == change.new_value;
      // Where rows end by themselves, their entries are to live as long as they do.
      if (is_same && !expires_) continue;
      if (change.old_key != change.new_key && keys_[index]->is_whole(new_record)) {
        if (const int error = check_unique(index, change.new_key)) return error;
      }
      changes.push_back(std::move(change));
    }
    std::string row;
    rows_->pack(new_record, &row);
    session_->wrote();
    if (old_key != new_key) {
      if (const int error = remove(old_key)) return error;
    }
    if (const int error = put(new_key, row)) return error;
    for (const Change &change : changes) {
      if (change.old_key != change.new_key) {
        if (const int error = remove(change.old_key)) return error;
      }
      if (const int error = put(change.new_key, change.new_value)) return error;
    }
    row_key_ = new_key;
    // Of an INSERT or REPLACE that became an update; a plain UPDATE leaves the counter alone.
    return table->next_number_field && new_record == table->record[0] ? note_counter() : 0;
  });
}

int ha_esker::delete_row(const uchar *record) {
  return guarded([&] {
    const std::string row_key = row_key_of(record);
    session_->wrote();
    if (const int error = remove(row_key)) return error;
    for (uint index = 0; index < keys_.size(); index++) {
      if (index == table->s->primary_key) continue;
      std::string key, value;
      split_entry(index, record, row_key, &key, &value);
      if (const int error = remove(key)) return error;
    }
    return 0;
  });
}
