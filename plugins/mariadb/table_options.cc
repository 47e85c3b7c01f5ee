// Options of a table in SQL, and the settings of its keyspace that they stand for.

#include "table_options.h"

namespace esker {

namespace {

// In the order of the words of the option. The first one leaves it to the engine.
const char *const kCompressions[] = {nullptr, "none", "lz4", "zstd", "searchable"};

}  // namespace

ha_create_table_option table_options[] = {
    HA_TOPTION_ENUM("COMPRESSION", compression, "default,none,lz4,zstd,searchable", 0),
    HA_TOPTION_STRING("TTL", ttl), HA_TOPTION_END};

Settings settings_of(const ha_table_option_struct *options) {
  Settings settings;
  if (!options) return settings;
  if (const char *compression = kCompressions[options->compression]) {
    settings.emplace_back("compression", compression);
  }
  if (options->ttl) settings.emplace_back("ttl", options->ttl);
  return settings;
}

}  // namespace esker
