// Balances the data that one node receives at one step over the links that enter it: the linear program (1) of
// "Efficient Direct-Connect Topologies", its form (14) for links that differ, and its discrete form (13).
//
// Shards that the same links can bring form a class. In time U a link brings `rate * (U - latency)` / `demand` shards,
// and nothing before its latency is over. If shards are cut into `chunks` equal parts, it brings only whole parts. The
// least U that serves all classes is found by Newton's method on cuts. Start from the least U in which all links
// together can bring all shards. One max-flow shows whether this U serves each class. If not, the minimum cut is a set
// of classes whose links are too slow, and U becomes the least that serves this set (Theorem 19). U only rises, and
// each set occurs at most once, so the method ends. The last U is attained, so it is the optimum. Links that do not
// help are left out automatically, because their latency is not over.
//
// With whole chunks, capacities are integers, and so is the flow. So the optimum of (13) is found exactly, not only
// approximately as in Theorem 20.
#pragma once

#include <algorithm>
#include <vector>

#include "flow/max_flow.h"
#include "flow/network.h"

namespace forestcoll {

// A time, exactly.
template <class Capacity>
struct Ratio {
  Capacity numerator = 0, denominator = 1;

  static Ratio reduced(Capacity numerator, Capacity denominator) {
    const Capacity common = greatest_common_divisor(numerator, denominator);
    return {numerator / common, denominator / common};
  }
  friend bool operator<(const Ratio& one, const Ratio& other) {
    return checked_multiply(one.numerator, other.denominator) < checked_multiply(other.numerator, one.denominator);
  }
};

template <class Capacity>
struct BalancedLink {
  Capacity rate;     // greater than 0
  Capacity latency;  // 0 or more
};

struct ShardClass {
  std::vector<std::int32_t> links;  // that can bring its shards, rising, at least one
  std::vector<NodeIndex> shards;    // at least one
};

// Flow of a class over one of its links, in parts of a shard.
template <class Capacity>
struct ClassFlow {
  std::size_t shard_class;
  std::int32_t link;
  Capacity amount;
};

template <class Capacity>
class LinkBalance {
 public:
  // `chunks` is 0 if shards may be cut anywhere.
  LinkBalance(const std::vector<BalancedLink<Capacity>>& links, Capacity demand, Capacity chunks)
      : links_(links), demand_(demand), chunks_(chunks) {}

  // Finds the least time; afterwards `flows`, `parts` and `time` are known.
  void run(const std::vector<ShardClass>& classes) {
    classes_ = &classes;
    std::vector<bool> everything(classes.size(), true);
    time_ = least_time(everything);
    while (!serves()) time_ = least_time(overloaded_);
  }

  const std::vector<ClassFlow<Capacity>>& flows() const { return flows_; }  // by class, then by link; none is 0
  Capacity parts() const { return chunks_ > 0 ? chunks_ : checked_multiply(demand_, time_.denominator); }
  const Ratio<Capacity>& time() const { return time_; }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  // The number of parts of all shards of a class together.
  Capacity supply(const ShardClass& it) const {
    return checked_multiply(parts(), static_cast<Capacity>(it.shards.size()));
  }

  // The number of parts of a shard that `link` brings in `time`.
  Capacity capacity(std::int32_t link, const Ratio<Capacity>& time) const {
    const auto& it = links_[index(link)];
    const Capacity busy = time.numerator - checked_multiply(it.latency, time.denominator);
    if (busy <= 0) return 0;
    const Capacity brought = checked_multiply(it.rate, busy);  // in 1/(demand * denominator) of a shard
    if (chunks_ == 0) return brought;
    return checked_multiply(brought, chunks_) / checked_multiply(demand_, time.denominator);
  }

  // The least time in which the links of the `chosen` classes together bring the shards of these classes.
  Ratio<Capacity> least_time(const std::vector<bool>& chosen) {
    std::vector<bool> is_used(links_.size());
    Capacity shards = 0;
    for (std::size_t each = 0; each < classes_->size(); ++each) {
      if (!chosen[each]) continue;
      shards += static_cast<Capacity>((*classes_)[each].shards.size());
      for (const std::int32_t link : (*classes_)[each].links) is_used[index(link)] = true;
    }
    used_.clear();
    for (std::size_t link = 0; link < links_.size(); ++link) {
      if (is_used[link]) used_.push_back(static_cast<std::int32_t>(link));
    }
    const Ratio<Capacity> undivided = least_undivided_time(shards);
    return chunks_ == 0 ? undivided : least_time_of_chunks(undivided, checked_multiply(shards, chunks_));
  }

  // Links are added in the order of their latencies, as long as their latency is below the time.
  Ratio<Capacity> least_undivided_time(Capacity shards) {
    std::sort(used_.begin(), used_.end(), [&](std::int32_t one, std::int32_t other) {
      return std::pair(links_[index(one)].latency, one) < std::pair(links_[index(other)].latency, other);
    });
    Capacity rates = 0, work = checked_multiply(shards, demand_);
    Ratio<Capacity> time;
    for (const std::int32_t link : used_) {
      const auto& it = links_[index(link)];
      if (rates > 0 && !(Ratio<Capacity>{it.latency, 1} < time)) break;
      rates = checked_add(rates, it.rate);
      work = checked_add(work, checked_multiply(it.rate, it.latency));
      time = Ratio<Capacity>::reduced(work, rates);
    }
    return time;
  }

  // From `time` on, goes from one arrival of a chunk to the next until enough have arrived: at most once for each link.
  Ratio<Capacity> least_time_of_chunks(Ratio<Capacity> time, Capacity wanted) const {
    while (true) {
      Capacity arrived = 0;
      for (const std::int32_t link : used_) arrived = checked_add(arrived, capacity(link, time));
      if (arrived >= wanted) return time;
      Ratio<Capacity> next = next_arrival(used_.front(), time);
      for (const std::int32_t link : used_) next = std::min(next, next_arrival(link, time));
      time = next;
    }
  }

  // The time at which `link` has brought one chunk more than at `time`.
  Ratio<Capacity> next_arrival(std::int32_t link, const Ratio<Capacity>& time) const {
    const auto& it = links_[index(link)];
    const Capacity whole = checked_multiply(it.rate, chunks_);
    const Capacity work = checked_multiply(capacity(link, time) + 1, demand_);
    return Ratio<Capacity>::reduced(checked_add(work, checked_multiply(it.latency, whole)), whole);
  }

  // Returns whether `time_` serves every class; otherwise `overloaded_` are classes whose links together are too slow.
  bool serves() {
    const auto count = static_cast<NodeIndex>(classes_->size());
    const auto sink = static_cast<NodeIndex>(count + static_cast<NodeIndex>(links_.size()));
    Network<Capacity> network(sink + 1);
    Capacity needed = 0;
    for (const ShardClass& it : *classes_) needed = checked_add(needed, supply(it));
    for (NodeIndex from = 0; from < count; ++from) {
      // These arcs are never full, so that the minimum cut contains all links of its classes.
      for (const std::int32_t link : (*classes_)[index(from)].links) network.add_arc(from, count + link, needed + 1);
    }
    const ArcIndex first_of_links = network.arcs();
    for (std::size_t link = 0; link < links_.size(); ++link) {
      const auto number = static_cast<std::int32_t>(link);
      network.add_arc(count + number, sink, capacity(number, time_));
    }
    MaxFlow<Capacity> max_flow(network);
    for (NodeIndex from = 0; from < count; ++from) max_flow.set_supply(from, supply((*classes_)[index(from)]));
    const NodeIndex sinks[] = {sink};
    if (max_flow.into(sinks, needed) < needed) {
      overloaded_.assign(classes_->size(), false);
      for (NodeIndex from = 0; from < count; ++from) overloaded_[index(from)] = !max_flow.on_sink_side(from);
      return false;
    }
    flows_.clear();
    for (ArcIndex arc = 0; arc < first_of_links; ++arc) {
      const Capacity amount = max_flow.flow(arc);
      if (amount > 0) flows_.push_back({index(network.tail(arc)), network.head(arc) - count, amount});
    }
    return true;
  }

  const std::vector<BalancedLink<Capacity>>& links_;
  Capacity demand_, chunks_;
  const std::vector<ShardClass>* classes_ = nullptr;
  std::vector<std::int32_t> used_;
  std::vector<bool> overloaded_;
  Ratio<Capacity> time_;
  std::vector<ClassFlow<Capacity>> flows_;
};

}  // namespace forestcoll
