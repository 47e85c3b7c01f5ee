// What the store told of late: its last compactions and flushes, and the last deadlock.

#include "events.h"

#include "border.h"

#include <cstring>

namespace esker {

namespace {

constexpr size_t kKept = 256;

bool is_job(const char *line) {
  for (const char *word : {"compaction_end ", "flush_end "}) {
    if (!strncmp(line, word, strlen(word))) return true;
  }
  return false;
}

}  // namespace

Events events;

int Events::listen(esker_builder *builder) {
  return esker_builder_event_listener(builder, hear, this, nullptr);
}

void Events::hear(void *state, const char *line) {
  if (!is_job(line)) return;
  guarded([&] {
    auto *events = static_cast<Events *>(state);
    std::lock_guard<std::mutex> turn(events->turn_);
    events->jobs_.push_back({time(nullptr), line});
    if (events->jobs_.size() > kKept) events->jobs_.pop_front();
    return 0;
  });
}

std::deque<Event> Events::jobs() {
  std::lock_guard<std::mutex> turn(turn_);
  return jobs_;
}

void Events::note_deadlock(unsigned long connection, const char *text) {
  std::lock_guard<std::mutex> turn(turn_);
  deadlock_ = {time(nullptr), "connection " + std::to_string(connection) + ": " + text};
}

Event Events::deadlock() {
  std::lock_guard<std::mutex> turn(turn_);
  return deadlock_;
}

std::string value_in(const std::string &line, const std::string &name) {
  const size_t found = line.find(" " + name + "=");
  if (found == std::string::npos) return "";
  size_t from = found + name.size() + 2;
  const bool is_quoted = line[from] == '"';
  from += is_quoted;
  const size_t end = line.find(is_quoted ? '"' : ' ', from);
  return line.substr(from, end == std::string::npos ? end : end - from);
}

}  // namespace esker
