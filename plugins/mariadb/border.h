// Where the server calls: it knows no exceptions, and one that came to it would end it.

#ifndef ESKER_BORDER_H
#define ESKER_BORDER_H

#include "server.h"

#include <exception>
#include <new>

namespace esker {

// What `body` returns; where there was no memory for it, `failure`.
template <typename Body>
int guarded(Body body, int failure = HA_ERR_OUT_OF_MEM) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return failure;
  } catch (const std::exception &fault) {
    sql_print_error("ESKER: %s", fault.what());
    return HA_ERR_INTERNAL_ERROR;
  }
}

// Ends the server here, as a crash does, if the setting esker_crash_at names this place; only in
// the plugin that scripts/mariadb-crash.sh has built for that.
#ifdef ESKER_CRASHES
void crash_at(const char *place);
#else
inline void crash_at(const char *) {}
#endif

}  // namespace esker

#endif
