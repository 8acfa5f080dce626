// Sets of nodes that trees may enter only so often.
//
// For a set X with a compute node, slack(X) = B-(X) - (trees whose root is outside X) must not fall below 0: each of
// those trees enters X at least once. A tree of multiplicity m that enters X beyond that, or although its root is
// inside, costs m of slack. Growing trees that respect the sets with little slack seldom end in a dead end. Which sets
// are kept never decides what is right, only what is tried first: completion checks against all sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

using SetIndex = std::int32_t;

// How near at hand it is to enter a set once only. Before trees spend slack, they spare the tight sets; if that does
// not do, clusters as well (nodes near each other), first those that have no more than four times what they need.
enum class Care : char { kTight, kCluster, kAmpleCluster, kNone };

template <class Capacity>
class TightSets {
 public:
  explicit TightSets(const Network<Capacity>& network)
      : network_(network), entered_(static_cast<std::size_t>(network.arcs())), entered_tight_(entered_.size()) {}

  SetIndex size() const { return static_cast<SetIndex>(members_.size()); }
  // The sets that the arc leads into and that trees heed.
  const std::vector<SetIndex>& entered(ArcIndex arc) const {
    return (heeds_all_ ? entered_ : entered_tight_)[static_cast<std::size_t>(arc)];
  }
  bool contains(SetIndex set, NodeIndex node) const {
    return members_[static_cast<std::size_t>(set)][static_cast<std::size_t>(node)];
  }
  Capacity slack(SetIndex set) const { return slack_[purse(set)]; }
  // How much of the slack a tree may take: before trees `spend`, only where there is plenty.
  Capacity spare(SetIndex set, bool spend) const {
    return spend || care_[static_cast<std::size_t>(set)] > care_taken_ ? slack(set) : 0;
  }
  // The sets up to this care are spared from now on.
  void take_care(Care care) { care_taken_ = care; }
  // From now on trees heed all sets, not only tight ones, which is quicker.
  void heed_all() { heeds_all_ = true; }
  void pay(SetIndex set, Capacity amount) { slack_[purse(set)] -= amount; }

  // Keeps the set given by `members`, which has `slack` before any tree has grown. Its number, or kNoSet if it is kept
  // already or there are too many. `entering` are the arcs into it.
  SetIndex add(const std::vector<bool>& members, const std::vector<ArcIndex>& entering, Capacity slack, Care care) {
    if (size() >= kMostSets || !known_.insert(members).second) return kNoSet;
    const SetIndex set = size();
    members_.push_back(members);
    start_.push_back(slack);
    slack_.push_back(slack);
    care_.push_back(care);
    purse_.push_back(set);
    for (const ArcIndex arc : entering) {
      entered_[static_cast<std::size_t>(arc)].push_back(set);
      if (care == Care::kTight) entered_tight_[static_cast<std::size_t>(arc)].push_back(set);
    }
    return set;
  }

  // The arcs into the set given by `members`.
  std::vector<ArcIndex> arcs_into(const std::vector<bool>& members) const {
    std::vector<ArcIndex> found;
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      if (members[static_cast<std::size_t>(network_.head(arc))] &&
          !members[static_cast<std::size_t>(network_.tail(arc))]) {
        found.push_back(arc);
      }
    }
    return found;
  }

  // The set has its slack in common with another: what one pays, both have paid.
  void share_slack(SetIndex set, SetIndex other, Capacity slack) {
    purse_[static_cast<std::size_t>(set)] = other;
    start_[static_cast<std::size_t>(other)] = slack_[static_cast<std::size_t>(other)] = slack;
  }

  // No tree has grown yet.
  void start_over() { slack_ = start_; }

  // What all sets have left, to come back to.
  const std::vector<Capacity>& slacks() const { return slack_; }
  void set_slacks(const std::vector<Capacity>& slacks) { slack_ = slacks; }

  // Makes every slack what the arcs into the set have left, before any tree is counted.
  void count_arcs() {
    std::fill(slack_.begin(), slack_.end(), 0);
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      for (const SetIndex set : entered_[static_cast<std::size_t>(arc)]) {
        slack_[static_cast<std::size_t>(set)] += network_.capacity(arc);
      }
    }
  }

  static constexpr SetIndex kNoSet = -1;

 private:
  std::size_t purse(SetIndex set) const { return static_cast<std::size_t>(purse_[static_cast<std::size_t>(set)]); }

  static constexpr SetIndex kMostSets = 1 << 15;

  const Network<Capacity>& network_;
  std::vector<std::vector<bool>> members_;
  std::vector<Capacity> start_, slack_;
  std::vector<Care> care_;
  std::vector<SetIndex> purse_;  // of each set, the one whose slack it pays from: itself, or one that shares it
  Care care_taken_ = Care::kTight;
  bool heeds_all_ = false;
  std::vector<std::vector<SetIndex>> entered_, entered_tight_;  // of each arc, the sets that it leads into
  std::unordered_set<std::vector<bool>> known_;
};

}  // namespace forestcoll
