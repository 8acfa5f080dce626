// The clock of a run of hops: events at known times, and transfers, which end when their links have moved their data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <stdexcept>
#include <vector>

#include "simulation/rows.h"
#include "simulation/transfers.h"

namespace forestcoll {

template <class Kind>
class HopEvents {
 public:
  explicit HopEvents(const FlowLimits& limits) : transfers_(limits) {}

  double now() const { return now_; }
  bool empty() const { return events_.empty() && transfers_.empty(); }

  // Plans an event of a hop or a lane after a delay; events of the same time happen in the order of their plans.
  void plan(double delay, Kind kind, Index place) { events_.push({now_ + delay, count_++, kind, place}); }

  // Begins to move the data of a hop over the links of a pair.
  void move(Index pair, double size, Index hop) { transfers_.start(pair, size, hop); }

  // Goes on to the next time at which something happens. `on_end(hop)` is called for the hops whose data has moved, and
  // then `on_event(kind, place)` for the events that are due.
  template <class OnEnd, class OnEvent>
  void next(OnEnd on_end, OnEvent on_event) {
    const double due = events_.empty() ? kNever : events_.top().time;
    const double passed = std::min(due - now_, transfers_.next_end());
    if (passed == kNever) throw std::logic_error("a hop has no bandwidth");
    if (!transfers_.empty()) {
      for (const auto& transfer : transfers_.advance(passed)) ended_.push_back(transfer.operation);
    }
    now_ = passed == due - now_ ? due : now_ + passed;
    for (const Index hop : ended_) on_end(hop);
    ended_.clear();
    while (!events_.empty() && events_.top().time <= now_) {
      const Event event = events_.top();
      events_.pop();
      on_event(event.kind, event.place);
    }
  }

 private:
  struct Event {
    double time;
    std::int64_t number;
    Kind kind;
    Index place;

    bool operator>(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };

  double now_ = 0.0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t count_ = 0;
  std::vector<Index> ended_;
  Transfers transfers_;
};

}  // namespace forestcoll
