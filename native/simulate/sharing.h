// How transfers that are active at the same time share the links: max-min fairness.
//
// No transfer can get a higher rate without lowering the rate of a transfer that is not faster.
#pragma once

#include <algorithm>
#include <limits>
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

class Sharing {
 public:
  explicit Sharing(const FlowLimits& limits)
      : limits_(limits), left_(limits.bandwidths.size()), loads_(limits.bandwidths.size(), 0.0) {}

  // Sets `rates` to the bytes per second of one transfer of each flow; `counts` are the active transfers by flow. The
  // rate of a flow without active transfers is 0.
  void share(const std::vector<Index>& counts, std::vector<double>& rates) {
    begin(counts, rates);
    while (!entries_.empty()) {
      const double step = fill();
      for (const Index flow : free_) rates[flow] += step;
      stop_at_full_links(step);
    }
  }

 private:
  struct Entry {
    Index link, flow;
    double weight;
  };

  void begin(const std::vector<Index>& counts, std::vector<double>& rates) {
    entries_.clear();
    free_.clear();
    stopped_.assign(counts.size(), false);
    std::size_t place = 0;
    for (Index flow = 0; flow < static_cast<Index>(counts.size()); ++flow) {
      rates[flow] = 0.0;
      const auto links = limits_.links[flow];
      if (counts[flow] > 0) {
        free_.push_back(flow);
        for (std::size_t each = 0; each < links.size(); ++each) {
          const double weight = limits_.weights[place + each] * counts[flow];
          if (weight > 0) entries_.push_back({links[each], flow, weight});
          left_[links[each]] = limits_.bandwidths[links[each]];
        }
      }
      place += links.size();
    }
  }

  // Returns by how much all rates can be raised before a link is full; loads_ is what they would add per step.
  double fill() {
    used_.clear();
    for (const Entry& each : entries_) {
      if (loads_[each.link] == 0.0) used_.push_back(each.link);
      loads_[each.link] += each.weight;
    }
    double step = std::numeric_limits<double>::infinity();
    for (const Index link : used_) step = std::min(step, left_[link] / loads_[link]);
    return step;
  }

  // Takes the step; the rates of transfers that cross a full link are final.
  void stop_at_full_links(double step) {
    for (const Index link : used_) left_[link] -= loads_[link] * step;
    for (const Entry& each : entries_) {
      if (left_[each.link] <= limits_.bandwidths[each.link] * 1e-9) stopped_[each.flow] = true;
    }
    for (const Index link : used_) loads_[link] = 0.0;
    std::erase_if(entries_, [&](const Entry& each) { return stopped_[each.flow]; });
    std::erase_if(free_, [&](Index flow) { return stopped_[flow]; });
  }

  const FlowLimits& limits_;
  std::vector<double> left_, loads_;
  std::vector<Entry> entries_;
  std::vector<Index> free_, used_;
  std::vector<bool> stopped_;
};

}  // namespace forestcoll
