// Sets of nodes that trees may enter only a limited number of times.
//
// For a set X with a compute node, slack(X) = B-(X) - (trees whose root is outside X) must not fall below 0, because
// each of those trees enters X at least once. Each further entry of a tree of multiplicity m, and each entry of a tree
// whose root is inside, costs m of slack. Growing trees that respect the sets with little slack rarely end without a
// possible step. The choice of sets does not affect correctness, only the order of attempts: completion checks all
// sets.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "flow/network.h"
#include "generation/flat_lists.h"
#include "generation/node_sets.h"

namespace forestcoll {

// How careful trees are to enter a set only once. Before trees spend slack, they spare the tight sets. If that is not
// enough, they also spare clusters (nodes near each other): first the scarce clusters, then the ample ones.
enum class Care : char { kTight, kCluster, kAmpleCluster, kNone };

template <class Capacity>
class TightSets {
 public:
  explicit TightSets(const Network<Capacity>& network)
      : network_(network), entered_(static_cast<std::size_t>(network.arcs())),
        entered_tight_(static_cast<std::size_t>(network.arcs())),
        entered_none_(static_cast<std::size_t>(network.arcs())) {}

  TightSets(const TightSets&) = delete;
  TightSets& operator=(const TightSets&) = delete;

  SetIndex size() const { return members_.size(); }
  // The sets that the arc leads into and that trees respect.
  std::span<const SetIndex> entered(ArcIndex arc) const { return (*heeded_)[static_cast<std::size_t>(arc)]; }
  bool contains(SetIndex set, NodeIndex node) const { return members_.contains(set, node); }
  Capacity slack(SetIndex set) const { return slack_[account(set)]; }
  // How much of the slack a tree may take, nothing if the result is negative. Before trees `spend`, some is kept.
  Capacity spare(SetIndex set, bool spend) const {
    return spend ? slack(set) : slack(set) - kept_[static_cast<std::size_t>(set)];
  }
  // From now on the sets up to this care are spared: their slack is kept, except for the rations of ample clusters.
  void take_care(Care care) {
    care_taken_ = care;
    ration_ = kRations;  // so that the next one is another
    ration(0, 1);
  }
  // Before trees spend slack, a quarter of that of ample clusters is shared out evenly among the trees of a level: a
  // tree that enters a cluster in several places is lower. The tree at `place` of `trees` may take what is left of the
  // share of the trees up to it, in rations for many trees at once.
  void ration(std::size_t place, std::size_t trees) {
    const std::size_t now = place * kRations / trees;
    if (now == ration_) return;
    ration_ = now;
    for (std::size_t set = 0; set < kept_.size(); ++set) kept_[set] = kept(set);
  }
  // From now on trees respect all sets, not only the tight ones, which is faster.
  void heed_all() { heeded_ = &entered_; }
  // From now on trees respect no set.
  void heed_none() { heeded_ = &entered_none_; }
  void pay(SetIndex set, Capacity amount) { slack_[account(set)] -= amount; }

  // Whether some set has this care.
  bool has(Care care) const { return std::find(care_.begin(), care_.end(), care) != care_.end(); }
  // Changes the care of a set from ample to scarce cluster. No tree may have grown yet.
  void make_scarce(SetIndex set) { care_[static_cast<std::size_t>(set)] = Care::kCluster; }

  // A set before any tree has grown: the arcs into it, its slack and its care.
  struct Terms {
    std::vector<ArcIndex> entering;
    Capacity slack;
    Care care;
  };

  // Both functions keep a set, given by its members or as part of a partition. They return its number, or kNoSet if the
  // set is known already or there are too many sets.
  SetIndex add(const std::vector<bool>& members, const Terms& terms) {
    return members_.add(members) ? add_terms(terms) : kNoSet;
  }
  SetIndex add(NodeSets::Part part, SetHash hash, const Terms& terms) {
    return members_.add(part, hash) ? add_terms(terms) : kNoSet;
  }
  std::int32_t add_table(std::vector<NodeIndex> labels) { return members_.add_table(std::move(labels)); }
  void drop_table() { members_.drop_table(); }

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

  // Makes the set share its slack with another: a payment of one is a payment of both.
  void share_slack(SetIndex set, SetIndex other, Capacity slack) {
    account_[static_cast<std::size_t>(set)] = other;
    start_[static_cast<std::size_t>(other)] = slack_[static_cast<std::size_t>(other)] = slack;
  }

  // No tree has grown yet.
  void start_over() { slack_ = start_; }

  // The slack of all sets, which can be restored later.
  const std::vector<Capacity>& slacks() const { return slack_; }
  void set_slacks(const std::vector<Capacity>& slacks) { slack_ = slacks; }

  // Sets every slack to the capacity left on the arcs into the set, before any tree is counted.
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
  std::size_t account(SetIndex set) const { return static_cast<std::size_t>(account_[static_cast<std::size_t>(set)]); }

  Capacity kept(std::size_t set) const {
    if (care_[set] > care_taken_) return 0;
    const Capacity start = start_[static_cast<std::size_t>(account_[set])];
    if (care_[set] != Care::kAmpleCluster) return start;
    const auto share = static_cast<Capacity>(ration_ + 1);
    constexpr auto kWhole = static_cast<Capacity>(4 * kRations);
    return start - start / kWhole * share - start % kWhole * share / kWhole;
  }

  SetIndex add_terms(const Terms& terms) {
    const SetIndex set = size() - 1;
    start_.push_back(terms.slack);
    slack_.push_back(terms.slack);
    care_.push_back(terms.care);
    kept_.push_back(0);
    account_.push_back(set);
    for (const ArcIndex arc : terms.entering) {
      entered_.append(static_cast<std::size_t>(arc), set);
      if (terms.care == Care::kTight) entered_tight_.append(static_cast<std::size_t>(arc), set);
    }
    return set;
  }

  const Network<Capacity>& network_;
  NodeSets members_;
  std::vector<Capacity> start_, slack_;
  std::vector<Care> care_;
  std::vector<SetIndex> account_;  // for each set, the set whose slack it pays from: itself, or one that shares it
  Care care_taken_ = Care::kTight;
  static constexpr std::size_t kRations = 256;
  std::size_t ration_ = 0;      // the number of the present one
  std::vector<Capacity> kept_;  // of the slack of each set, what trees may not take before they spend
  FlatLists<SetIndex> entered_, entered_tight_, entered_none_;  // for each arc, the sets that it leads into
  const FlatLists<SetIndex>* heeded_ = &entered_tight_;         // those that trees respect
};

}  // namespace forestcoll
