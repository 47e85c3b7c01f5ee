// How many entries of an index have the same first columns, found by reading a part of them.
//
// Kept in the catalogue's keyspace:
//
// | key                              | value                                                  |
// |----------------------------------|--------------------------------------------------------|
// | 05, table number (4), number of  | format version 1 (1 byte), rows of the table then (8),  |
// | the index (4)                    | number of columns (2), and for each how many entries    |
// |                                  | have it and those before it alike (8)                   |
//
// Numbers are big-endian. Valid if and only if the version is 1 and the length is that of so many
// columns. What is not valid is as good as not there.

#ifndef ESKER_INDEX_STATISTICS_H
#define ESKER_INDEX_STATISTICS_H

#include "key_codec.h"

#include <esker/c.h>

namespace esker {

// Of one index: entries that have their first columns alike, by how many columns these are.
struct IndexStatistics {
  ulonglong rows = 0;  // of the table, by what was known of it then
  std::vector<ulonglong> alike;
};

// How much is read of an index: so many places of it, and so many entries in all of them.
struct Sampling {
  size_t places, entries;
};

// Reads entries of the index, all of them if there are no more than are to be read. A code of
// esker/c.h, as what follows.
int sample_index(const esker_keyspace *table, const KeyCodec &keys, const Sampling &sampling,
                 IndexStatistics *statistics);

int read_statistics(const esker_keyspace *records, uint32 table, uint32 index,
                    IndexStatistics *statistics);
int write_statistics(esker_db *db, const esker_keyspace *records, uint32 table, uint32 index,
                     const IndexStatistics &statistics);
// Those of all indexes of a table go with the batch.
int delete_statistics(esker_batch *batch, const esker_keyspace *records, uint32 table);

// How many keys there are from `first` up to `last`: counted if they are few, else about.
int count_keys(const esker_keyspace *table, const std::string &first, const std::string &last,
               ulonglong *keys);

}  // namespace esker

#endif
