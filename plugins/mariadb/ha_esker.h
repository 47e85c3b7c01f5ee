// One open table, as the server's handler calls see it.
//
// ha_esker.cc makes, opens and describes tables, ha_esker_alter.cc alters them, ha_esker_read.cc
// reads rows, ha_esker_locks.cc locks them, ha_esker_moved.cc finds those that move meanwhile,
// ha_esker_condition.cc passes over those that a condition excludes, ha_esker_ranges.cc reads those
// of many ranges, ha_esker_statistics.cc tells what the optimizer asks, ha_esker_write.cc writes
// rows, ha_esker_load.cc brings in many, ha_esker_check.cc is CHECK TABLE.
// Reads and writes go through the session's transaction; nothing is decided here that the store
// could decide.

#ifndef HA_ESKER_H
#define HA_ESKER_H

#include "session.h"

#include "index_statistics.h"
#include "key_codec.h"
#include "range_reader.h"
#include "row_codec.h"

#include <atomic>
#include <memory>

namespace esker {

class TableLoad;

// What all openings of one table share.
class Share : public Handler_share {
 public:
  Share() { thr_lock_init(&lock); }
  ~Share() override;

  THR_LOCK lock;
  std::string name;  // its path, of a partition its own
  TableRecord record;
  esker_keyspace *keyspace = nullptr;
  std::shared_ptr<Counter> counter;
  std::weak_ptr<TableLoad> load;  // that goes on, or is to be committed
  std::mutex statistics_turn;  // guards what follows
  std::vector<IndexStatistics> statistics;  // of each key, in the table's order
  std::atomic<ulonglong> sampled_rows{0};  // that there were then; also read without the turn
  // What the table took when it was measured last, and of which so many parts rows.
  std::atomic<ulonglong> measured_bytes{0};
  std::atomic<ulonglong> parts_of_rows{0};
};

}  // namespace esker

class ha_esker : public handler {
 public:
  ha_esker(handlerton *hton, TABLE_SHARE *share) : handler(hton, share) {}
  ~ha_esker() override {
    esker_value_free(found_);
    esker_value_free(probe_);
  }

  // What it can do.
  const char *index_type(uint) override { return "BTREE"; }
  Table_flags table_flags() const override;
  ulong index_flags(uint index, uint part, bool all_parts) const override;
  uint max_supported_keys() const override { return MAX_KEY; }
  uint max_supported_key_length() const override { return 3072; }
  uint max_supported_key_part_length() const override { return 3072; }

  // Tables.
  int create(const char *name, TABLE *form, HA_CREATE_INFO *info) override;
  int delete_table(const char *name) override;
  int rename_table(const char *from, const char *to) override;
  int truncate() override;
  int open(const char *name, int mode, uint test_if_locked) override;
  int close() override;
  int check(THD *thd, HA_CHECK_OPT *options) override;
  int analyze(THD *, HA_CHECK_OPT *) override;
  int optimize(THD *, HA_CHECK_OPT *) override;

  // ALTER TABLE without a copy.
  bool check_if_incompatible_data(HA_CREATE_INFO *wanted, uint changes) override;
  enum_alter_inplace_result check_if_supported_inplace_alter(TABLE *altered,
                                                             Alter_inplace_info *wanted) override;
  bool can_convert_nocopy(const Field &field, const Column_definition &wanted) const override;
  Compare_keys compare_key_parts(const Field &field, const Column_definition &wanted,
                                 const KEY_PART_INFO &part,
                                 const KEY_PART_INFO &wanted_part) const override;
  bool prepare_inplace_alter_table(TABLE *altered, Alter_inplace_info *wanted) override;
  bool inplace_alter_table(TABLE *altered, Alter_inplace_info *wanted) override;
  bool commit_inplace_alter_table(TABLE *altered, Alter_inplace_info *wanted,
                                  bool is_committed) override;
  static int check_version(handlerton *, const char *path, const LEX_CUSTRING *version, ulonglong);

  // Statements.
  int external_lock(THD *thd, int kind) override;
  int start_stmt(THD *thd, thr_lock_type kind) override;
  THR_LOCK_DATA **store_lock(THD *thd, THR_LOCK_DATA **to, thr_lock_type kind) override;
  void try_semi_consistent_read(bool is_wanted) override;
  bool was_semi_consistent_read() override;
  void unlock_row() override;
  int reset() override;
  bool get_error_message(int error, String *text) override;

  // What is known of it.
  int info(uint flags) override;
  double read_time(uint index, uint ranges, ha_rows rows) override;
  ha_rows records_in_range(uint index, const key_range *lower, const key_range *upper,
                           page_range *pages) override;
  void get_auto_increment(ulonglong offset, ulonglong increment, ulonglong wanted,
                          ulonglong *first, ulonglong *given) override;
  int reset_auto_increment(ulonglong value) override;
  void update_create_info(HA_CREATE_INFO *info) override;

  // Reading.
  int index_init(uint index, bool sorted) override;
  int index_end() override;
  int index_read_map(uchar *record, const uchar *key, key_part_map parts,
                     ha_rkey_function where) override;
  int index_next_same(uchar *record, const uchar *key, uint length) override;
  int read_range_first(const key_range *lower, const key_range *upper, bool is_one_key,
                       bool sorted) override;
  int index_next(uchar *record) override;
  int index_prev(uchar *record) override;
  int index_first(uchar *record) override;
  int index_last(uchar *record) override;
  int rnd_init(bool scan) override;
  int rnd_end() override;
  int rnd_next(uchar *record) override;
  void position(const uchar *record) override;
  int rnd_pos(uchar *record, uchar *place) override;
  int cmp_ref(const uchar *left, const uchar *right) override;
  void print_error(int error, myf flags) override;
  Item *idx_cond_push(uint index, Item *condition) override;
  ha_rows multi_range_read_info(uint index, uint ranges, uint keys, uint parts, uint *size,
                                uint *mode, Cost_estimate *cost) override;
  int multi_range_read_explain_info(uint mode, char *text, size_t room) override;
  int multi_range_read_init(RANGE_SEQ_IF *ranges, void *state, uint count, uint mode,
                            HANDLER_BUFFER *buffer) override;
  int multi_range_read_next(range_id_t *range) override;

  // Writing.
  int write_row(const uchar *record) override;
  int update_row(const uchar *old_record, const uchar *new_record) override;
  int delete_row(const uchar *record) override;

  // Writing many.
  void start_bulk_insert(ha_rows rows, uint flags) override;
  int end_bulk_insert() override;
  int extra(ha_extra_function what) override;

 private:
  class Check;
  class Alter;

  int enter(THD *thd, thr_lock_type kind, bool writes);
  bool is_locking() const { return locks_ != kNone; }
  // Whether the server wants no more than what the index gives back.
  bool is_index_alone() const {
    return keyread < MAX_KEY && keyread == active_index &&
           (gives_row_keys_ || table->s->primary_key == MAX_KEY || !table->part_info);
  }
  uint32 read_flags() const;
  // What becomes of an entry: it is the next one, its row has gone, or may lie elsewhere by now, or
  // the condition that the server gave does not hold for it.
  enum Fate { kTaken, kGone, kMoved, kPassed };
  bool has_condition() const { return pushed_idx_cond && pushed_idx_cond_keyno == active_index; }
  int check_condition(Fate *fate);
  int show_entry();
  int open_share(const char *name);
  int make_codecs();
  int prepare_alter(TABLE *altered, Alter_inplace_info *wanted);
  int build_indexes(TABLE *altered, const esker::Catalog::Altered &change);
  int measure();
  int measure_rows(ulonglong all);
  int begin_statistics();
  bool is_out_of_date() const;
  int sample(size_t places, size_t entries);
  void try_sample();
  void tell_statistics();
  int estimate(uint index, const key_range *lower, const key_range *upper, ha_rows *rows);

  // An index by its place in the table; MAX_KEY is the rows themselves.
  const esker::KeyCodec &codec(uint index) const;
  bool is_rows(uint index) const { return index == MAX_KEY || index == table->s->primary_key; }
  int fail(int code) { return session_->error(ha_thd(), code); }
  esker_tx *transaction() const { return session_->transaction(); }

  std::string row_key_of(const uchar *record) const;
  std::string search_key(uint index, const uchar *key, key_part_map parts, bool *is_whole);

  std::string first_key(uint index) const;
  int open_cursor(uint index);
  int new_cursor(uint index);
  int seek_anew(bool is_forward);
  int end_here(bool is_forward) const;
  static int seek_before(esker_iter *iter, const std::string &bound);
  int seek_back(const std::string &to);
  bool looks_again();
  bool relies_on_order() const;
  void note_kept();
  int check_gone(bool *is_awaited);
  std::string note_moved(bool is_forward);
  bool was_given(int error) const;
  void begin_search(const std::string &from, bool is_forward = true);
  bool can_look_back() const { return notes_locks_ && !skips_locked_ && !expires_; }
  void note_moved_away();
  bool begin_ranges_anew();
  bool looks_at_ranges_again();
  void close_cursor();
  void leave_cursor();
  int read_where(uchar *record, const std::string &wanted, ha_rkey_function where);
  int step(uchar *record, bool is_forward, const std::string &must_begin = {});
  int step_anyhow(uchar *record, bool is_forward);
  int take(int code, uchar *record, bool is_forward);
  int take_here(uchar *record, Fate *fate);
  int take_entry(uchar *record, Fate *fate);
  void forget_lock() {
    is_unlocked_ = false;
    locked_from_ = locked_to_ = 0;
  }
  bool has_new_lock() const { return locked_from_ != locked_to_; }
  void give_back_lock();
  int lock_row();
  int lock_row_now();
  int get_row(uchar *record);
  int probe(const std::string &key);
  int read_exact(uchar *record, const std::string &key);
  int or_skipped(int error) const;
  int unpack(uchar *record, const void *row, size_t length);

  bool can_batch() const;
  int next_of_ranges(range_id_t *range);
  int read_first_side_by_side();
  int give(const esker::RangeReader::Found &found);
  int fetch();
  bool next_range();
  void describe_range();
  bool bounds_of(uint index, const key_range *lower, const key_range *upper, std::string *first,
                 std::string *last);
  int scan_entries();
  int add_entry(range_id_t range);
  void keep_entry(range_id_t range);
  int row_of_entry(range_id_t range, bool *is_wanted);
  int look_up_entries();
  int look_up_rows();
  int look_up(esker::RangeReader::Values esker::RangeReader::*into);

  int check_unique(uint index, const std::string &key);
  int put(const std::string &key, const std::string &value);
  int remove(const std::string &key);
  std::string new_row_key(const uchar *record);
  // Key and value of a row's entry in a secondary index.
  void split_entry(uint index, const uchar *record, const std::string &row_key, std::string *key,
                   std::string *value) const;
  static void split(const esker::KeyCodec &keys, const uchar *record, const std::string &row_key,
                    std::string *key, std::string *value);
  bool is_empty();
  int note_bulk(size_t bytes);
  int load_row(const uchar *record, const std::string &row_key, const std::string &row);
  int end_load(bool is_unwanted);
  void find_duplicate(const esker::TableLoad &load);
  int find_last_counter(ulonglong *last);
  int prepare_counter();
  int note_counter();

  esker::Share *share_ = nullptr;
  THR_LOCK_DATA lock_;
  esker::Session *session_ = nullptr;
  // What the statement does with the rows that it finds.
  enum Locks { kNone, kShared, kExclusive };
  Locks locks_ = kNone;
  bool skips_locked_ = false;  // passes over rows that others have locked
  bool gives_back_ = false;    // READ COMMITTED: locks of rows that do not match
  bool looks_first_ = false;   // at rows that others have locked, before it waits for them
  bool is_unlocked_ = false;   // the row last read was had so, or the next is to be waited for
  bool is_looked_at_ = false;  // the row last read, or that it is missing, was seen so
  bool notes_locks_ = false;   // locks rows as they are by then: notes about that of the row last read
  uint64_t locked_from_ = 0, locked_to_ = 0;  // places of locks before and behind it
  ulonglong relocks_ = 0;                     // of the session, by then
  bool gives_row_keys_ = false;  // each index gives all columns of the primary key back
  bool expires_ = false;  // rows end by themselves: an entry of an index may outlive its row

  std::unique_ptr<esker::RowCodec> rows_;
  std::unique_ptr<esker::KeyCodec> row_keys_;
  std::vector<std::unique_ptr<esker::KeyCodec>> keys_;
  std::vector<uchar> scratch_;  // a record of its own, to put keys of the server's back into

  esker_value *found_ = esker_value_new();  // the row last read: its BLOBs lie there
  esker_value *probe_ = esker_value_new();  // what was looked up beside it
  esker_iter *cursor_ = nullptr;
  uint cursor_index_ = MAX_KEY;
  ulonglong cursor_writes_ = 0;
  bool is_at_start_ = false;
  std::string must_begin_;  // entries that begin otherwise end the search
  std::string bound_;       // of a range: entries from here on are beyond it; empty for none
  std::string next_bound_;  // of the search that comes
  std::string begun_at_;    // where a search began, of one backward before what; empty for none
  bool is_backward_ = false;
  bool is_given_ = false;   // the row last read was, and the server has not said that it is none
  std::string kept_;        // the place of the last such row; empty for none
  size_t rejected_ = 0;     // rows since then that were none
  std::string moved_to_;    // where the entry of the row last read is by now; empty if it has gone
  std::string moved_from_;  // the last place whose row may lie before it by now; empty for none
  bool is_second_ = false;  // looks for such rows, at the end
  // Of ranges that are searched one after the other: a row may move from one into another.
  struct RangeList {
    void *state = nullptr;  // what the server gave, to begin with the first one
    uint count = 0;
    uint mode = 0;
    bool is_on = false;
    size_t begun = 0;        // ranges
    size_t anew = 0;         // of these, those that begin behind what was kept
    std::string kept;        // the place of the last row that was, of any range
    bool has_moved = false;  // a row that was waited for, or only looked at
    bool is_second = false;  // looks for such rows
  };
  RangeList list_;
  std::string exact_;       // what the entries begin with that were searched for, if by their key
  uint exact_length_ = 0;   // of the server's form of that key; 0 if it was not by a key
  std::string place_;       // the key of the entry last found, where there is no cursor at it
  std::string entry_;       // key and value of the secondary entry last read
  std::string row_key_;     // of the row last read
  std::vector<size_t> starts_;
  esker::RangeReader ranges_;
  uint duplicate_ = MAX_KEY;

  std::shared_ptr<esker::TableLoad> load_;  // rows go there
  bool is_bulk_ = false;     // rows may go there once there are many
  bool is_private_ = false;  // nobody else knows the table
  size_t bulk_bytes_ = 0;
};

#endif
