// An allocator that fails now and then for the plugin, to be loaded before the server's own.
//
// As long as the file that ESKER_NO_MEMORY names is there, each 97th allocation by operator new
// that the plugin is among the callers of throws std::bad_alloc. scripts/mariadb-memory.sh uses it.

#include <execinfo.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr unsigned kEach = 97;  // a prime, so that no loop of few allocations is always spared
constexpr int kFrames = 24;

std::atomic<unsigned> calls{0};
thread_local bool is_looking = false;

// Whether that address is of the plugin's file, by the system's list of what is loaded.
bool is_of_plugin(const void *address) {
  static unsigned long first = 0, last = 0;
  if (!first) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    while (maps && fgets(line, sizeof line, maps)) {
      unsigned long from, to;
      if (!strstr(line, "ha_esker.so") || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
      if (!first) first = from;
      last = to;
    }
    if (maps) fclose(maps);
  }
  const auto at = reinterpret_cast<unsigned long>(address);
  return first <= at && at < last;
}

bool is_to_fail() {
  static const char *const file = getenv("ESKER_NO_MEMORY");
  if (is_looking || !file || access(file, F_OK)) return false;
  is_looking = true;
  void *frames[kFrames];
  const int count = backtrace(frames, kFrames);
  bool is_ours = false;
  for (int at = 1; at < count; at++) is_ours |= is_of_plugin(frames[at]);
  is_looking = false;
  return is_ours && ++calls % kEach == 0;
}

}  // namespace

void *operator new(size_t size) {
  void *made = is_to_fail() ? nullptr : malloc(size ? size : 1);
  if (!made) throw std::bad_alloc();
  return made;
}

void operator delete(void *made) noexcept { free(made); }
void operator delete(void *made, size_t) noexcept { free(made); }
