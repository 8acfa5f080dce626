// The active transfers of a simulation: how far each is, and which ends next.
//
// Transfers of one flow have the same rate at any time. So one number for each flow, the bytes that each of its active
// transfers has moved since the flow was last idle, says how far all of them are: a transfer ends when that number
// reaches the number at its start plus its size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "simulate/sharing.h"

namespace forestcoll {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

class Transfers {
 public:
  struct Transfer {
    double end;           // the bytes that its flow has moved when it ends
    std::int64_t number;  // in the order of starts
    Index flow, operation;

    bool operator>(const Transfer& other) const { return end != other.end ? end > other.end : number > other.number; }
  };

  explicit Transfers(const FlowLimits& limits)
      : sharing_(limits), counts_(limits.links.size(), 0), moved_(limits.links.size(), 0.0),
        rates_(limits.links.size(), 0.0), waiting_(limits.links.size()) {}

  bool empty() const { return active_.empty(); }

  // Starts a transfer of `size` bytes, which belongs to `operation`.
  void start(Index flow, double size, Index operation) {
    if (counts_[flow]++ == 0) {
      moved_[flow] = 0.0;
      active_.push_back(flow);
    }
    waiting_[flow].push({moved_[flow] + size, started_++, flow, operation});
    is_stale_ = true;
  }

  // Returns the seconds until the next transfer ends, never if none is active.
  double next_end() {
    if (is_stale_) sharing_.share(counts_, rates_);
    is_stale_ = false;
    double least = kNever;
    for (const Index flow : active_) least = std::min(least, left(flow));
    return least;
  }

  // Lets time pass, and returns the transfers that ended, in the order in which they started. `next_end` was called
  // since the last start.
  const std::vector<Transfer>& advance(double seconds) {
    ended_.clear();
    for (const Index flow : active_) {
      const bool is_over = left(flow) <= seconds * kRounding;
      moved_[flow] += rates_[flow] * seconds;
      if (is_over) end(flow);
    }
    if (!ended_.empty()) {
      is_stale_ = true;
      std::erase_if(active_, [&](Index flow) { return counts_[flow] == 0; });
      std::ranges::sort(ended_, {}, &Transfer::number);
    }
    return ended_;
  }

 private:
  static constexpr double kRounding = 1 + 1e-9;  // transfers that end within rounding errors end together

  double left(Index flow) const {
    return rates_[flow] > 0 ? (waiting_[flow].top().end - moved_[flow]) / rates_[flow] : kNever;
  }

  void end(Index flow) {
    auto& waiting = waiting_[flow];
    const double last = waiting.top().end * kRounding;
    while (!waiting.empty() && waiting.top().end <= last) {
      ended_.push_back(waiting.top());
      waiting.pop();
      --counts_[flow];
    }
  }

  Sharing sharing_;
  std::vector<Index> counts_;
  std::vector<double> moved_, rates_;
  std::vector<std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>>> waiting_;
  std::vector<Index> active_;
  std::vector<Transfer> ended_;
  std::int64_t started_ = 0;
  bool is_stale_ = false;
};

}  // namespace forestcoll
