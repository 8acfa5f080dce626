// The time of a program in lanes, whose blocks do the hops of a timetable in a fixed order.
//
// On each lane, one block sends and one receives, in the order of the hops. A hop is sent when the data that it waits
// for was received and its lane has a slot; it takes the overhead and then shares its links. One latency after its end
// it is received, which takes the overhead and empties the slot. Hops of the same sum are received in their order. The
// lanes of a pair that begin with own data begin one overhead apart. `event_run.h` simulates any program in this way; a
// replay needs no program.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/observer.h"
#include "simulation/hop_events.h"
#include "simulation/hop_run.h"
#include "simulation/transfers.h"

namespace forestcoll {

// What the blocks of a program do.
struct HopOrder {
  std::vector<Index> order;  // for each hop, its place among all hops
  std::vector<Index> lanes;  // for each hop, its lane
  std::vector<Index> sums;   // for each hop, the sum that it is added to; -1 for none
  Index slots = 1;           // the messages that a lane holds

  void check(const HopProgram& program) const {
    const std::size_t hops = program.pairs.size();
    if (order.size() != hops) throw std::invalid_argument("order must have one entry per hop");
    if (lanes.size() != hops) throw std::invalid_argument("lanes must have one entry per hop");
    if (sums.size() != hops) throw std::invalid_argument("sums must have one entry per hop");
    for (std::size_t hop = 0; hop < hops; ++hop) {
      const Index lane = lanes[hop];
      if (lane < 0 || lane >= program.lanes[program.pairs[hop]]) throw std::invalid_argument("a lane is out of range");
    }
    if (!std::ranges::all_of(sums, [&](Index sum) { return sum >= -1 && sum < static_cast<Index>(hops); })) {
      throw std::invalid_argument("a sum is out of range");
    }
    if (slots < 1) throw std::invalid_argument("a lane has no slot");
  }
};

class HopReplay {
 public:
  HopReplay(const HopProgram& program, const HopOrder& given, double overhead, double latency)
      : program_(program), slots_(given.slots), overhead_(overhead), latency_(latency), lane_of_(program.pairs.size()),
        waits_(program.pairs.size(), 0), next_of_sum_(program.pairs.size(), kNone), is_first_(program.pairs.size(), 1),
        has_arrived_(program.pairs.size(), 0), events_(program.limits) {
    std::vector<Index> first_lane{0};
    for (const Index count : program.lanes) first_lane.push_back(first_lane.back() + count);
    lanes_.resize(first_lane.back());
    std::vector<Index> sorted(program.pairs.size());
    for (Index hop = 0; hop < static_cast<Index>(sorted.size()); ++hop) sorted[hop] = hop;
    std::ranges::sort(sorted, {}, [&](Index hop) { return std::pair(given.order[hop], hop); });
    std::vector<Index> last_of_sum(program.pairs.size(), kNone);
    for (const Index hop : sorted) {
      lane_of_[hop] = first_lane[program.pairs[hop]] + given.lanes[hop];
      lanes_[lane_of_[hop]].hops.push_back(hop);
      for (const Index each : program.after[hop]) ++waits_[each];
      if (given.sums[hop] == kNone) continue;
      Index& last = last_of_sum[given.sums[hop]];
      if (last != kNone) {
        next_of_sum_[last] = hop;
        is_first_[hop] = 0;
      }
      last = hop;
    }
    for (std::size_t pair = 0; pair < program.lanes.size(); ++pair) {
      for (Index number = 0; number < program.lanes[pair]; ++number) {
        const auto& hops = lanes_[first_lane[pair] + number].hops;
        const bool begins_with_own = !hops.empty() && waits_[hops.front()] == 0;
        events_.plan(begins_with_own ? number * overhead : 0.0, Kind::kOpen, first_lane[pair] + number);
      }
    }
  }

  // Returns when the last hop was received, or infinity if hops wait for each other.
  double run(Observer& observer) {
    while (!events_.empty()) {
      observer.pulse();
      events_.next([&](Index hop) { end(hop); }, [&](Kind kind, Index place) { happen(kind, place); });
    }
    return received_ == program_.pairs.size() ? events_.now() : kNever;
  }

 private:
  static constexpr Index kNone = -1;

  enum class Kind { kOpen, kMove, kArrive, kReceived };

  struct Lane {
    std::vector<Index> hops;
    std::size_t sent = 0, received = 0;
    bool is_open = false, is_sending = false, is_receiving = false;
  };

  void happen(Kind kind, Index place) {
    switch (kind) {
      case Kind::kOpen:
        lanes_[place].is_open = true;
        send(place);
        break;
      case Kind::kMove:
        events_.move(program_.pairs[place], program_.sizes[place], place);
        break;
      case Kind::kArrive:
        has_arrived_[place] = 1;
        receive(lane_of_[place]);
        break;
      case Kind::kReceived:
        finish(place);
    }
  }

  void send(Index number) {
    Lane& lane = lanes_[number];
    if (!lane.is_open || lane.is_sending || lane.sent == lane.hops.size()) return;
    if (lane.sent - lane.received >= static_cast<std::size_t>(slots_) || waits_[lane.hops[lane.sent]] > 0) return;
    lane.is_sending = true;
    events_.plan(overhead_, Kind::kMove, lane.hops[lane.sent++]);
  }

  void end(Index hop) {
    lanes_[lane_of_[hop]].is_sending = false;
    events_.plan(latency_, Kind::kArrive, hop);
    send(lane_of_[hop]);
  }

  void receive(Index number) {
    Lane& lane = lanes_[number];
    if (lane.is_receiving || lane.received == lane.sent) return;
    const Index hop = lane.hops[lane.received];
    if (!has_arrived_[hop] || !is_first_[hop]) return;
    lane.is_receiving = true;
    events_.plan(overhead_, Kind::kReceived, hop);
  }

  void finish(Index hop) {
    Lane& lane = lanes_[lane_of_[hop]];
    lane.is_receiving = false;
    ++lane.received;
    ++received_;
    for (const Index each : program_.after[hop]) {
      if (--waits_[each] == 0) send(lane_of_[each]);
    }
    if (const Index following = next_of_sum_[hop]; following != kNone) {
      is_first_[following] = 1;
      receive(lane_of_[following]);
    }
    send(lane_of_[hop]);
    receive(lane_of_[hop]);
  }

  const HopProgram& program_;
  const Index slots_;
  const double overhead_, latency_;
  std::vector<Lane> lanes_;
  std::vector<Index> lane_of_;      // for each hop, its lane among those of all pairs
  std::vector<Index> waits_;        // for each hop, the hops that it still waits for
  std::vector<Index> next_of_sum_;  // for each hop, the next one of its sum
  std::vector<char> is_first_;      // for each hop, whether all earlier ones of its sum were received
  std::vector<char> has_arrived_;
  std::size_t received_ = 0;
  HopEvents<Kind> events_;
};

}  // namespace forestcoll
