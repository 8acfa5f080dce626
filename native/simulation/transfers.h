// The active transfers of a simulation: how far each is, and which ends next.
//
// Transfers of one flow have the same rate at any time. So one number for each flow, the bytes that each of its active
// transfers has moved since the flow was last idle, says how far all of them are: a transfer ends when that number
// reaches the number at its start plus its size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "simulation/least.h"
#include "simulation/sharing.h"

namespace forestcoll {

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
      waiting.moved = waiting.rate = 0.0;
      waiting.place = active_.size();
      active_.push_back(flow);
      ends_.push_back(kNever);
    }
    settle(waiting);
    waiting.transfers.push({waiting.moved + size, started_++, flow, operation});
    sharing_.add(flow, 1);
    is_stale_ = true;
  }

  // Returns the seconds until the next transfer ends, never if none is active.
  double next_end() {
    if (is_stale_) {
      for (const Index flow : sharing_.share(active_)) plan(flow);
    }
    is_stale_ = false;
    return std::max(0.0, ends_.least() - now_);
  }

  // Lets time pass, and returns the transfers that ended, in the order in which they started. `next_end` was called
  // since the last start.
  const std::vector<Transfer>& advance(double seconds) {
    now_ += seconds;
    const double last = now_ * kRounding;
    ended_.clear();
    for (std::size_t place = ends_.find(0, last); place < ends_.size(); place = ends_.find(place, last)) end(place);
    is_stale_ |= !ended_.empty();
    std::ranges::sort(ended_, {}, &Transfer::number);
    return ended_;
  }

 private:
  static constexpr double kRounding = 1 + 1e-12;  // transfers that end within rounding errors end together

  // The active transfers of a flow.
  struct Waiting {
    double moved = 0.0;  // the bytes that each has moved since the flow was last idle, until `since`
    double since = 0.0;
    double rate = 0.0;      // the bytes per second that each moves
    std::size_t place = 0;  // in active_
    std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> transfers;
  };

  void settle(Waiting& waiting) const {
    waiting.moved += waiting.rate * (now_ - waiting.since);
    waiting.since = now_;
  }

  // Computes when the next transfer of a flow ends, after its rate or its transfers changed.
  void plan(Index flow) {
    Waiting& waiting = waiting_[flow];
    settle(waiting);
    waiting.rate = sharing_.rate(flow);
    const double left = waiting.transfers.top().end - waiting.moved;
    ends_.set(waiting.place, waiting.rate > 0 ? now_ + left / waiting.rate : kNever);
  }

  // Ends the next transfers of the flow at this place. If it has no more, the last flow takes its place.
  void end(std::size_t place) {
    const Index flow = active_[place];
    auto& transfers = waiting_[flow].transfers;
    const double last = transfers.top().end * kRounding;
    while (!transfers.empty() && transfers.top().end <= last) {
      ended_.push_back(transfers.top());
      transfers.pop();
      sharing_.add(flow, -1);
    }
    ends_.set(place, kNever);
    if (!transfers.empty()) return;
    waiting_[active_.back()].place = place;
    active_[place] = active_.back();
    ends_.set(place, ends_[ends_.size() - 1]);
    active_.pop_back();
    ends_.pop_back();
  }

  Sharing sharing_;
  std::vector<Waiting> waiting_;
  std::vector<Index> active_;
  Least ends_;  // for each active flow, when its next transfer ends
  double now_ = 0.0;
  std::vector<Transfer> ended_;
  std::int64_t started_ = 0;
  bool is_stale_ = false;
};

}  // namespace forestcoll
