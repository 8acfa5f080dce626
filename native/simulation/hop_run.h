// A run of hops, each of which sends data from one rank to another, in an order of preference.
//
// A hop waits for the hops that bring its data, for a lane of its pair of ranks, and for a place on its links. Of the
// hops that wait for the same, the first one in the order begins first. It takes the overhead, in which it moves no
// data; then it shares its links fairly with all other hops that move data. Its data arrives one latency after its end.
// Each lane of a pair opens one overhead after the one before, so that lanes do not go on in step: links would be idle
// in all overheads.
#pragma once

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "flow/observer.h"
#include "simulation/hop_events.h"
#include "simulation/rows.h"
#include "simulation/transfers.h"

namespace forestcoll {

// Hops and the pairs of ranks that they are between.
struct HopProgram {
  std::vector<Index> pairs;   // for each hop, its pair
  std::vector<double> sizes;  // for each hop, the bytes that it moves
  Rows after;                 // for each hop, the hops that wait for it
  std::vector<Index> lanes;   // for each pair, the most hops at the same time
  std::vector<Index> places;  // for each link, the most hops at the same time
  FlowLimits limits;          // the links of each pair

  void check() const {
    const auto hops = static_cast<Index>(pairs.size()), ends = static_cast<Index>(lanes.size());
    const auto is_positive = [](Index each) { return each > 0; };
    const auto is_pair = [ends](Index pair) { return pair >= 0 && pair < ends; };
    if (!std::ranges::all_of(pairs, is_pair)) throw std::invalid_argument("a pair is out of range");
    if (sizes.size() != pairs.size()) throw std::invalid_argument("sizes must have one entry per hop");
    if (!std::ranges::all_of(lanes, is_positive)) throw std::invalid_argument("a pair has no lane");
    if (places.size() != limits.bandwidths.size()) throw std::invalid_argument("places must have one entry per link");
    if (!std::ranges::all_of(places, is_positive)) throw std::invalid_argument("a link has no place");
    after.check("after", hops, {hops});
    limits.check(ends);
  }
};

// When each hop begins and ends, and its lane. The columns of hops that never begin, because they wait for each other,
// are 0.
struct HopTimes {
  std::vector<double> begins, ends;
  std::vector<Index> lanes;
};

class HopRun {
 public:
  // `order` has the place of each hop among the hops that wait with it.
  HopRun(const HopProgram& program, const std::vector<Index>& order, double overhead, double latency)
      : program_(program), order_(order), overhead_(overhead), latency_(latency), waits_(program.pairs.size(), 0),
        waiting_(program.lanes.size()), lanes_(program.lanes.size()), places_(program.places),
        users_(program.places.size()), events_(program.limits) {
    const std::size_t hops = program.pairs.size();
    if (order.size() != hops) throw std::invalid_argument("order must have one entry per hop");
    for (Index hop = 0; hop < static_cast<Index>(hops); ++hop) {
      for (const Index each : program.after[hop]) ++waits_[each];
    }
    for (Index pair = 0; pair < static_cast<Index>(program.lanes.size()); ++pair) {
      most_lanes_ = std::max(most_lanes_, program.lanes[pair]);
      for (const Index link : program.limits.links[pair]) users_[link].push_back(pair);
    }
    for (Index link = 0; link < static_cast<Index>(users_.size()); ++link) {
      Index most = 0;
      for (const Index pair : users_[link]) most += program.lanes[pair];
      if (most <= program.places[link]) users_[link].clear();  // hops never wait for this link
      waits_for_links_ |= !users_[link].empty();
    }
    times_.begins.assign(hops, 0.0);
    times_.ends.assign(hops, 0.0);
    times_.lanes.assign(hops, 0);
    used_.assign(hops, 0);
  }

  HopTimes run(Observer& observer) {
    for (Index hop = 0; hop < static_cast<Index>(waits_.size()); ++hop) {
      if (waits_[hop] == 0) wait(hop);
    }
    open(0);
    begin_hops();
    while (!events_.empty()) {
      observer.pulse();
      events_.next([&](Index hop) { end(hop); }, [&](Kind kind, Index place) { happen(kind, place); });
      begin_hops();
    }
    return std::move(times_);
  }

 private:
  enum class Kind { kOpen, kMove, kArrive };

  using Waiting = std::pair<Index, Index>;  // a hop after its place in the order

  template <class Value>
  using Least = std::priority_queue<Value, std::vector<Value>, std::greater<>>;

  // Opens a lane of all pairs that have it.
  void open(Index lane) {
    for (Index pair = 0; pair < static_cast<Index>(lanes_.size()); ++pair) {
      if (lane >= program_.lanes[pair]) continue;
      lanes_[pair].insert({0, lane});
      open_.push_back(pair);
    }
    if (lane + 1 < most_lanes_) events_.plan(overhead_, Kind::kOpen, lane + 1);
  }

  void wait(Index hop) {
    waiting_[program_.pairs[hop]].push({order_[hop], hop});
    open_.push_back(program_.pairs[hop]);
  }

  // Begins hops of all pairs of `open_`, which may have a free lane and places.
  void begin_hops() {
    if (waits_for_links_) {
      std::erase_if(open_, [&](Index pair) { return waiting_[pair].empty(); });
      std::ranges::sort(open_, {}, [&](Index pair) { return waiting_[pair].top(); });
    }
    for (const Index pair : open_) {
      auto& waiting = waiting_[pair];
      for (; !waiting.empty() && may_begin(pair); waiting.pop()) begin(waiting.top().second, pair);
    }
    open_.clear();
  }

  bool may_begin(Index pair) const {
    const auto has_place = [&](Index link) { return places_[link] > 0; };
    return !lanes_[pair].empty() && std::ranges::all_of(program_.limits.links[pair], has_place);
  }

  void begin(Index hop, Index pair) {
    const auto lane = lanes_[pair].begin();  // the one with the fewest hops so far
    std::tie(used_[hop], times_.lanes[hop]) = *lane;
    lanes_[pair].erase(lane);
    for (const Index link : program_.limits.links[pair]) --places_[link];
    times_.begins[hop] = events_.now();
    events_.plan(overhead_, Kind::kMove, hop);
  }

  void happen(Kind kind, Index place) {
    switch (kind) {
      case Kind::kOpen:
        open(place);
        break;
      case Kind::kMove:
        events_.move(program_.pairs[place], program_.sizes[place], place);
        break;
      case Kind::kArrive:
        arrive(place);
    }
  }

  void end(Index hop) {
    const Index pair = program_.pairs[hop];
    times_.ends[hop] = events_.now();
    lanes_[pair].insert({used_[hop] + 1, times_.lanes[hop]});
    open_.push_back(pair);
    for (const Index link : program_.limits.links[pair]) {
      ++places_[link];
      open_.insert(open_.end(), users_[link].begin(), users_[link].end());
    }
    events_.plan(latency_, Kind::kArrive, hop);
  }

  void arrive(Index hop) {
    for (const Index each : program_.after[hop]) {
      if (--waits_[each] == 0) wait(each);
    }
  }

  const HopProgram& program_;
  const std::vector<Index>& order_;
  const double overhead_, latency_;
  std::vector<Index> waits_;                              // for each hop, the hops that it still waits for
  std::vector<Least<Waiting>> waiting_;                   // for each pair, the hops that wait for a lane
  std::vector<std::set<std::pair<Index, Index>>> lanes_;  // for each pair, free lanes after the number of their hops
  std::vector<Index> used_;                               // for each hop, how many its lane had before
  std::vector<Index> places_;                             // for each link, how many more hops may begin
  std::vector<std::vector<Index>> users_;                 // for each link that hops may wait for, its pairs
  bool waits_for_links_ = false;
  Index most_lanes_ = 0;
  std::vector<Index> open_;
  HopEvents<Kind> events_;
  HopTimes times_;
};

}  // namespace forestcoll
