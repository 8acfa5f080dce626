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

  explicit Transfers(const FlowLimits& limits) : sharing_(limits), waiting_(limits.links.size()) {}

  bool empty() const { return active_.empty(); }

  // Starts a transfer of `size` bytes, which belongs to `operation`.
  void start(Index flow, double size, Index operation) {
    auto& waiting = waiting_[flow];
    if (waiting.transfers.empty()) {
      waiting.moved = 0.0;
      active_.push_back(flow);
    }
    waiting.transfers.push({waiting.moved + size, started_++, flow, operation});
    sharing_.add(flow, 1);
    is_stale_ = true;
  }

  // Returns the seconds until the next transfer ends, never if none is active.
  double next_end() {
    if (is_stale_) sharing_.share(active_);
    is_stale_ = false;
    left_.clear();
    double least = kNever;
    for (const Index flow : active_) {
      left_.push_back(left(flow));
      least = std::min(least, left_.back());
    }
    return least;
  }

  // Lets time pass, and returns the transfers that ended, in the order in which they started. `next_end` was called
  // since the last start.
  const std::vector<Transfer>& advance(double seconds) {
    ended_.clear();
    for (std::size_t place = 0; place < active_.size(); ++place) {
      const Index flow = active_[place];
      waiting_[flow].moved += sharing_.rate(flow) * seconds;
      if (left_[place] <= seconds * kRounding) end(flow);
    }
    if (!ended_.empty()) {
      is_stale_ = true;
      std::erase_if(active_, [&](Index flow) { return waiting_[flow].transfers.empty(); });
      std::ranges::sort(ended_, {}, &Transfer::number);
    }
    return ended_;
  }

 private:
  static constexpr double kRounding = 1 + 1e-9;  // transfers that end within rounding errors end together

  // The active transfers of a flow.
  struct Waiting {
    double moved = 0.0;  // the bytes that each has moved since the flow was last idle
    std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> transfers;
  };

  double left(Index flow) const {
    const Waiting& waiting = waiting_[flow];
    const double rate = sharing_.rate(flow);
    return rate > 0 ? (waiting.transfers.top().end - waiting.moved) / rate : kNever;
  }

  void end(Index flow) {
    auto& transfers = waiting_[flow].transfers;
    const double last = transfers.top().end * kRounding;
    while (!transfers.empty() && transfers.top().end <= last) {
      ended_.push_back(transfers.top());
      transfers.pop();
      sharing_.add(flow, -1);
    }
  }

  Sharing sharing_;
  std::vector<Waiting> waiting_;
  std::vector<Index> active_;
  std::vector<double> left_;  // for each active flow, the seconds until its next transfer ends
  std::vector<Transfer> ended_;
  std::int64_t started_ = 0;
  bool is_stale_ = false;
};

}  // namespace forestcoll
