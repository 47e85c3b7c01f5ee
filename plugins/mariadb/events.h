// What the store told of late: its last compactions and flushes, and the last deadlock.

#ifndef ESKER_EVENTS_H
#define ESKER_EVENTS_H

#include "server.h"

#include <esker/c.h>

#include <deque>
#include <mutex>
#include <string>

namespace esker {

struct Event {
  time_t at = 0;
  std::string text;
};

// All its calls may come from any thread.
class Events {
 public:
  // Has a store that is to be opened tell its events here. A code of esker/c.h.
  int listen(esker_builder *builder);
  std::deque<Event> jobs();

  void note_deadlock(unsigned long connection, const char *text);
  Event deadlock();

 private:
  static void hear(void *state, const char *line);

  std::mutex turn_;  // guards what follows
  std::deque<Event> jobs_;
  Event deadlock_;
};

extern Events events;

// What stands behind `name=` in the line of an event; without quotes, and "" if it is not there.
std::string value_in(const std::string &line, const std::string &name);

}  // namespace esker

#endif
