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

#include "simulation/rows.h"

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
    if (weights.size() != values) throw std::invalid_argument("weights must have one entry per link of a flow");
    std::size_t place = 0;
    for (Index flow = 0; flow < flows; ++flow) {
      bool is_limited = false;
      for (std::size_t each = 0; each < links[flow].size(); ++each) is_limited |= weights[place++] > 0;
      if (!is_limited) throw std::invalid_argument("a flow takes nothing of any link");
    }
  }
};

// Rates are max-min fair if and only if each active flow has a limit: a link that it crosses, that is full, and that no
// faster flow crosses. Between two calls of `share`, few transfers start or end, and most flows keep their rates and
// limits. So rates are shared anew among a part of the flows, with what the others leave: the flows that changed, and
// those whose limit a change touches. As long as a flow has no limit, flows that take its place are added to the part.
class Sharing {
 public:
  explicit Sharing(const FlowLimits& limits)
      : limits_(limits), counts_(limits.links.size(), 0), free_counts_(limits.links.size(), 0.0),
        rates_(limits.links.size(), 0.0), limit_of_(limits.links.size(), -1), is_chosen_(limits.links.size(), 0),
        crossing_(limits.bandwidths.size()), places_(limits.bandwidths.size()), is_stale_(limits.bandwidths.size(), 0),
        is_used_(limits.bandwidths.size(), 0) {
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
    changed_.push_back(flow);
    if (before > 0 && counts_[flow] > 0) return;
    for (const Use& use : uses_of(flow)) {
      auto& crossing = crossing_[use.link];
      const auto place = std::ranges::upper_bound(crossing, flow, {}, &Crossing::flow);
      if (before == 0) crossing.insert(place, {flow, use.weight});
      if (counts_[flow] == 0) crossing.erase(place - 1);
    }
  }

  // Shares the links among these flows, which are all that have active transfers. Returns the flows whose rates or
  // numbers of transfers may have changed.
  const std::vector<Index>& share(const std::vector<Index>& active) {
    for (const Index flow : chosen_) is_chosen_[flow] = false;
    chosen_.clear();
    for (const Index flow : changed_) {
      if (counts_[flow] > 0) choose(flow);
      for (const Use& use : uses_of(flow)) choose_limited_by(use.link);
    }
    changed_.clear();
    do {
      if (2 * chosen_.size() > active.size()) std::ranges::for_each(active, [&](Index flow) { choose(flow); });
      share_among_chosen();
    } while (chosen_.size() < active.size() && choose_more());
    return chosen_;
  }

  // Returns the bytes per second of one transfer of an active flow, after the links were shared.
  double rate(Index flow) const { return rates_[flow]; }

 private:
  static constexpr double kRounding = 1 + 1e-9;

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

  void choose(Index flow) {
    if (is_chosen_[flow]) return;
    is_chosen_[flow] = true;
    chosen_.push_back(flow);
  }

  void choose_limited_by(Index link) {
    for (const Crossing& each : crossing_[link]) {
      if (limit_of_[each.flow] == link) choose(each.flow);
    }
  }

  // Chooses the flows that are faster than chosen ones on the limit of these, and flows that lost their limit. Returns
  // whether there are any.
  bool choose_more() {
    const std::size_t before = chosen_.size();
    for (const Index link : used_) {
      double sum = 0.0, fastest = 0.0, level = std::numeric_limits<double>::infinity();
      for (const Crossing& each : crossing_[link]) {
        sum += each.weight * counts_[each.flow] * rates_[each.flow];
        if (!is_chosen_[each.flow]) continue;
        fastest = std::max(fastest, rates_[each.flow]);
        if (limit_of_[each.flow] == link) level = rates_[each.flow];
      }
      const bool is_full = sum * kRounding >= limits_.bandwidths[link];
      for (const Crossing& each : crossing_[link]) {
        const double rate = rates_[each.flow] * kRounding;
        const bool is_limited = limit_of_[each.flow] != link || (is_full && fastest <= rate);
        if (!is_limited || rates_[each.flow] > level * kRounding) choose(each.flow);
      }
    }
    return chosen_.size() > before;
  }

  // Shares what the other flows leave among the chosen ones.
  void share_among_chosen() {
    begin();
    double level = 0.0;
    while (!open_.empty()) {
      const double step = least_step();
      level += step;
      stop_at_full_links(raise(step), level);
    }
  }

  // The bytes per second that one more byte per second of each free transfer would take of a link.
  double load(Index link) const {
    double sum = 0.0;
    for (const Crossing& each : crossing_[link]) sum += each.weight * free_counts_[each.flow];
    return sum;
  }

  // The bytes per second that the flows that were not chosen leave of a link.
  double left_by_others(Index link) const {
    double sum = 0.0;
    for (const Crossing& each : crossing_[link]) {
      if (!is_chosen_[each.flow]) sum += each.weight * counts_[each.flow] * rates_[each.flow];
    }
    return std::max(0.0, limits_.bandwidths[link] - sum);
  }

  void touch(Index link) {
    if (is_stale_[link]) return;
    is_stale_[link] = true;
    stale_.push_back(link);
  }

  // Frees the chosen flows, and opens their links. The columns of open links have one entry for each of them.
  void begin() {
    for (const Index link : used_) is_used_[link] = false;
    used_.clear();
    for (const Index flow : chosen_) {
      free_counts_[flow] = counts_[flow];
      for (const Use& use : uses_of(flow)) {
        if (!is_used_[use.link]) used_.push_back(use.link);
        is_used_[use.link] = true;
      }
    }
    open_ = used_;
    left_.clear();
    enough_.clear();
    open_loads_.clear();
    for (std::size_t place = 0; place < open_.size(); ++place) {
      const Index link = open_[place];
      places_[link] = place;
      left_.push_back(left_by_others(link));
      enough_.push_back(limits_.bandwidths[link] * 1e-9);
      open_loads_.push_back(load(link));
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
  void stop_at_full_links(std::size_t full, double level) {
    const std::span<const Index> links(full_.data(), full);
    for (const Index link : links) is_stale_[link] = true;  // its load is not needed again
    for (const Index link : links) {
      for (const Crossing& each : crossing_[link]) {
        if (free_counts_[each.flow] > 0) stop(each.flow, link, level);
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

  void stop(Index flow, Index link, double level) {
    rates_[flow] = level;
    limit_of_[flow] = link;
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
  std::vector<Use> uses_;                // of all flows
  std::vector<std::size_t> first_uses_;  // for each flow, the place of its first use
  std::vector<Index> counts_;            // for each flow, its active transfers
  std::vector<double> free_counts_;      // the same if the flow is chosen and its rate is not final, else 0
  std::vector<double> rates_;            // for each flow, the bytes per second of a transfer
  std::vector<Index> limit_of_;          // for each flow with a rate, its limit
  std::vector<Index> changed_;           // the flows whose numbers of transfers changed
  std::vector<Index> chosen_;            // the flows among which links are shared
  std::vector<char> is_chosen_;
  std::vector<std::vector<Crossing>> crossing_;  // for each link, the active flows that use it, in ascending order
  std::vector<Index> open_;                      // the links with free transfers
  std::vector<std::size_t> places_;              // for each open link, its place in open_ and in the next columns
  std::vector<double> left_, enough_;            // the bandwidth that is left, and with which a link is full
  std::vector<double> open_loads_;               // the loads by free transfers
  std::vector<Index> full_;
  std::vector<Index> stale_;  // the links whose loads change
  std::vector<char> is_stale_;
  std::vector<Index> used_;  // the links of the chosen flows
  std::vector<char> is_used_;
};

}  // namespace forestcoll
