// Options of a table in SQL, and the settings of its keyspace that they stand for.
//
// | option        | values                                            | setting       |
// |---------------|---------------------------------------------------|---------------|
// | `COMPRESSION` | `default`, `none`, `lz4`, `zstd`, `searchable`    | `compression` |
// | `TTL`         | a duration such as `'7d'`                         | `ttl`         |

#ifndef ESKER_TABLE_OPTIONS_H
#define ESKER_TABLE_OPTIONS_H

#include "server.h"

#include <string>
#include <utility>
#include <vector>

// The server fills one in for each table; it knows this name.
struct ha_table_option_struct {
  uint compression;
  char *ttl;
};

namespace esker {

// Names and texts of settings.
using Settings = std::vector<std::pair<std::string, std::string>>;

extern ha_create_table_option table_options[];

// Of no options, NULL, there are none.
Settings settings_of(const ha_table_option_struct *options);

}  // namespace esker

#endif
