// How transfers that are active at the same time share the links: max-min fairness.
//
// No transfer can get a higher rate without lowering the rate of a transfer that is not faster.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "simulate/rows.h"

namespace forestcoll {

// What a transfer of each flow takes of the links.
struct FlowLimits {
  Rows links;                      // for each flow, the links that it crosses
  std::vector<double> weights;     // for each value of `links`, the part of the link's bandwidth that a byte takes
  std::vector<double> bandwidths;  // for each link, bytes per second

  void check(Index flows) const {
    links.check("links", flows, {static_cast<std::int64_t>(bandwidths.size())});
    std::size_t values = 0;
    for (Index flow = 0; flow < flows; ++flow) values += links[flow].size();
    if (weights.size() != values) throw std::invalid_argument("weights needs a number for each link of a flow");
  }
};

// Between two calls of `share`, few transfers start or end. So the loads of all links are kept, and only those of links
// that a change touches are added up again, in the order of the flows: sums of floating-point numbers depend on it.
class Sharing {
 public:
  explicit Sharing(const FlowLimits& limits)
      : limits_(limits), counts_(limits.links.size(), 0), free_counts_(limits.links.size(), 0.0),
        crossing_(limits.bandwidths.size()), loads_(limits.bandwidths.size(), 0.0), places_(limits.bandwidths.size()),
        is_stale_(limits.bandwidths.size(), 0) {
    std::size_t place = 0;
    for (Index flow = 0; flow < limits.links.size(); ++flow) {
      first_uses_.push_back(uses_.size());
      for (const Index link : limits.links[flow]) {
        const double weight = limits.weights[place++];
        if (weight > 0) uses_.push_back({link, weight});
      }
    }
    first_uses_.push_back(uses_.size());
  }

  // Adds `change` to the number of active transfers of a flow.
  void add(Index flow, Index change) {
    const Index before = counts_[flow];
    counts_[flow] += change;
    free_counts_[flow] = counts_[flow];
    for (const Use& use : uses_of(flow)) {
      auto& crossing = crossing_[use.link];
      const auto place = std::ranges::upper_bound(crossing, flow, {}, &Crossing::flow);
      if (before == 0) crossing.insert(place, {flow, use.weight});
      if (counts_[flow] == 0) crossing.erase(place - 1);
      touch(use.link);
    }
  }

  // Sets the rates of these flows, which are all that have active transfers, to the bytes per second of one transfer.
  void share(const std::vector<Index>& active, std::vector<double>& rates) {
    for (const Index link : stale_) {
      loads_[link] = load(link);
      is_stale_[link] = false;
    }
    stale_.clear();
    begin();
    double level = 0.0;
    while (!open_.empty()) {
      const double step = least_step();
      level += step;
      stop_at_full_links(raise(step), level, rates);
    }
    for (const Index flow : active) {
      if (free_counts_[flow] > 0) rates[flow] = level;  // a flow that takes nothing of any link
      free_counts_[flow] = counts_[flow];
    }
  }

 private:
  // That a byte of a flow takes a part of a link.
  struct Use {
    Index link;
    double weight;
  };

  // An active flow that uses a link.
  struct Crossing {
    Index flow;
    double weight;
  };

  std::span<const Use> uses_of(Index flow) const {
    return {uses_.data() + first_uses_[flow], uses_.data() + first_uses_[flow + 1]};
  }

  // The bytes per second that one more byte per second of each free transfer would take of a link.
  double load(Index link) const {
    double sum = 0.0;
    for (const Crossing& each : crossing_[link]) sum += each.weight * free_counts_[each.flow];
    return sum;
  }

  void touch(Index link) {
    if (is_stale_[link]) return;
    is_stale_[link] = true;
    stale_.push_back(link);
  }

  // Opens all links that have a load. The columns of open links have one entry for each of them.
  void begin() {
    open_.clear();
    left_.clear();
    enough_.clear();
    open_loads_.clear();
    for (Index link = 0; link < static_cast<Index>(loads_.size()); ++link) {
      if (loads_[link] == 0.0) continue;
      places_[link] = open_.size();
      open_.push_back(link);
      left_.push_back(limits_.bandwidths[link]);
      enough_.push_back(limits_.bandwidths[link] * 1e-9);
      open_loads_.push_back(loads_[link]);
    }
    full_.resize(open_.size() + 1);
  }

  // Returns by how much all rates can be raised before a link is full.
  double least_step() const {
    constexpr double kMost = std::numeric_limits<double>::infinity();
    double least[4] = {kMost, kMost, kMost, kMost};  // four chains of comparisons run at the same time
    const std::size_t count = open_.size();
    const double *left = left_.data(), *loads = open_loads_.data();
    std::size_t place = 0;
    for (; place + 4 <= count; place += 4) {
      for (std::size_t each = 0; each < 4; ++each) {
        least[each] = std::min(least[each], left[place + each] / loads[place + each]);
      }
    }
    for (; place < count; ++place) least[0] = std::min(least[0], left[place] / loads[place]);
    return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  }

  // Takes the step, and returns the number of links that are full; `full_` begins with them.
  std::size_t raise(double step) {
    const std::size_t count = open_.size();
    double* const left = left_.data();
    const double *loads = open_loads_.data(), *enough = enough_.data();
    const Index* const open = open_.data();
    for (std::size_t place = 0; place < count; ++place) left[place] -= loads[place] * step;
    std::size_t full = 0;
    for (std::size_t place = 0; place < count; ++place) {
      full_[full] = open[place];
      full += left[place] <= enough[place];
    }
    return full;
  }

  // Makes the rates of transfers that cross a full link final, and closes the links that have no free transfers.
  void stop_at_full_links(std::size_t full, double level, std::vector<double>& rates) {
    const std::span<const Index> links(full_.data(), full);
    for (const Index link : links) is_stale_[link] = true;  // its load is not needed again
    for (const Index link : links) {
      for (const Crossing& each : crossing_[link]) {
        if (free_counts_[each.flow] > 0) stop(each.flow, level, rates);
      }
    }
    for (const Index link : links) {
      is_stale_[link] = false;
      close(places_[link]);
    }
    for (const Index link : stale_) {
      is_stale_[link] = false;
      const double sum = load(link);
      if (sum > 0) {
        open_loads_[places_[link]] = sum;
      } else {
        close(places_[link]);
      }
    }
    stale_.clear();
  }

  void stop(Index flow, double level, std::vector<double>& rates) {
    rates[flow] = level;
    free_counts_[flow] = 0.0;
    for (const Use& use : uses_of(flow)) touch(use.link);
  }

  void close(std::size_t place) {
    places_[open_.back()] = place;
    open_[place] = open_.back();
    left_[place] = left_.back();
    enough_[place] = enough_.back();
    open_loads_[place] = open_loads_.back();
    open_.pop_back();
    left_.pop_back();
    enough_.pop_back();
    open_loads_.pop_back();
  }

  const FlowLimits& limits_;
  std::vector<Use> uses_;                        // of all flows
  std::vector<std::size_t> first_uses_;          // for each flow, the place of its first use
  std::vector<Index> counts_;                    // for each flow, its active transfers
  std::vector<double> free_counts_;              // the same, and 0 if the rate of the flow is final
  std::vector<std::vector<Crossing>> crossing_;  // for each link, the active flows that use it, in ascending order
  std::vector<double> loads_;                    // for each link, its load if all transfers are free
  std::vector<Index> open_;                      // the links with free transfers
  std::vector<std::size_t> places_;              // for each open link, its place in open_ and in the next columns
  std::vector<double> left_, enough_;            // the bandwidth that is left, and with which a link is full
  std::vector<double> open_loads_;               // the loads by free transfers
  std::vector<Index> full_;
  std::vector<Index> stale_;  // the links whose loads change
  std::vector<char> is_stale_;
};

}  // namespace forestcoll
