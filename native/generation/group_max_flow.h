// Can the remaining copies of trees reach a node? Max-flow with trees as sources.
//
// A tree that misses node v may send its copies from any node that it reaches. So v can be reached by all trees that
// miss it if and only if, for every set T with v, the arcs into T carry the copies of the trees that miss all of T
// (Edmonds; ForestColl Theorem 7 with the nodes of the trees as root sets). The network of this question has a source
// for each such tree, with arcs to all nodes of the tree; these arcs are implicit. Because most trees reach most nodes,
// a search backwards from v ends after a few arcs. Augmenting paths are shortest paths (Edmonds and Karp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "generation/growth.h"

namespace forestcoll {

template <class Capacity>
class GroupMaxFlow {
 public:
  using Tree = GrowingTree<Capacity>;

  // An amount of an arc, or of the copies of a tree at a node.
  struct Use {
    std::int32_t at;
    Capacity amount;
  };

  explicit GroupMaxFlow(const Network<Capacity>& network)
      : network_(network), flow_(index(network.arcs())), seen_(index(network.nodes())), step_(index(network.nodes())) {}

  // The trees that later questions are about, in their present state.
  void ask_about(const std::vector<const Tree*>& trees) {
    words_ = (trees.size() + 63) / 64;
    at_.assign(index(network_.nodes()) * words_, 0);
    groups_.assign(trees.size(), {});
    for (std::size_t tree = 0; tree < trees.size(); ++tree) {
      groups_[tree].copies = trees[tree]->multiplicity;
      for (NodeIndex node = 0; node < network_.nodes(); ++node) {
        if (trees[tree]->reaches(node)) at_[index(node) * words_ + tree / 64] |= std::uint64_t{1} << (tree % 64);
      }
    }
  }

  // Records that all trees that miss the node can reach it. Sets with the node then have no shortfall, and the node
  // counts as one that all trees reach: later questions are about sets without it, and end when a search meets it.
  void trust(NodeIndex node) {
    std::fill_n(at_.begin() + static_cast<std::ptrdiff_t>(index(node) * words_), words_, ~std::uint64_t{0});
  }

  // Returns whether all trees that miss `sink`, which must not be trusted, could reach it at the same time.
  bool reaches(NodeIndex sink) {
    Capacity missing = start_over(sink);
    while (missing > 0) {
      const std::size_t group = find_path(sink);
      if (group == kNone) return false;
      missing -= augment(group, sink);
    }
    return true;
  }

  // After the answer yes: what the paths of the trees use; this proves the answer as long as it fits.
  std::vector<Use> flow() const {
    std::vector<Use> used;
    for (const ArcIndex arc : touched_) {
      if (flow_[index(arc)] > 0) used.push_back({arc, flow_[index(arc)]});
    }
    return used;
  }

  // After the answer no: the set that too few arcs enter.
  std::vector<bool> sink_side() const {
    std::vector<bool> inside(seen_.size());
    for (std::size_t node = 0; node < seen_.size(); ++node) inside[node] = seen_[node] == round_;
    return inside;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  struct Group {
    Capacity copies = 0;
    Capacity left = 0;         // copies without a path
    std::vector<Use> uses;     // where the other copies start
    NodeIndex found_from = 0;  // the node from which the search reached this group
  };
  // How the search reached a node: over an arc from a node nearer to the sink, or through a group that uses it.
  struct Step {
    ArcIndex arc;  // -1: through `group`
    bool forward;
    std::size_t group;
  };
  struct Place {
    NodeIndex node;  // -1: a group
    std::size_t group;
  };

  // Forgets the last answer; returns how many copies miss the sink.
  Capacity start_over(NodeIndex sink) {
    for (const ArcIndex arc : touched_) flow_[index(arc)] = 0;
    touched_.clear();
    missing_.resize(words_);
    for (std::size_t word = 0; word < words_; ++word) missing_[word] = ~at_[index(sink) * words_ + word];
    if (groups_.size() % 64 != 0) missing_.back() &= (std::uint64_t{1} << (groups_.size() % 64)) - 1;
    Capacity copies = 0;
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t bits = missing_[word]; bits != 0; bits &= bits - 1) {
        Group& group = groups_[first_of(word, bits)];
        group.left = group.copies;
        group.uses.clear();
        copies = checked_add(copies, group.left);
      }
    }
    return copies;
  }

  static std::size_t first_of(std::size_t word, std::uint64_t bits) {
    return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }

  // Searches backwards from the sink; returns a group with copies left, or kNone.
  std::size_t find_path(NodeIndex sink) {
    ++round_;
    queue_.clear();
    unseen_ = missing_;
    visit(sink, {-1, true, kNone});
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const Place place = queue_[next];
      if (place.node < 0) {
        for (const Use& use : groups_[place.group].uses) {
          if (use.amount > 0) visit(use.at, {-1, true, place.group});
        }
        continue;
      }
      const std::size_t found = meet_groups(place.node);
      if (found != kNone) return found;
      for (const ArcIndex arc : network_.in(place.node)) {
        if (flow_[index(arc)] < network_.capacity(arc)) visit(network_.tail(arc), {arc, true, kNone});
      }
      for (const ArcIndex arc : network_.out(place.node)) {
        if (flow_[index(arc)] > 0) visit(network_.head(arc), {arc, false, kNone});
      }
    }
    return kNone;
  }

  void visit(NodeIndex node, Step step) {
    if (seen_[index(node)] == round_) return;
    seen_[index(node)] = round_;
    step_[index(node)] = step;
    queue_.push_back({node, kNone});
  }

  std::size_t meet_groups(NodeIndex node) {
    for (std::size_t word = 0; word < words_; ++word) {
      const std::uint64_t met = unseen_[word] & at_[index(node) * words_ + word];
      for (std::uint64_t bits = met; bits != 0; bits &= bits - 1) {
        const std::size_t number = first_of(word, bits);
        groups_[number].found_from = node;
        if (groups_[number].left > 0) return number;
        queue_.push_back({-1, number});
      }
      unseen_[word] &= ~met;
    }
    return kNone;
  }

  // Follows the path from the group to the sink twice: first to find how much it carries, then to send that much, from
  // all groups at the first node of the path that have copies left.
  Capacity augment(std::size_t first, NodeIndex sink) {
    const NodeIndex start = groups_[first].found_from;
    Capacity room = std::numeric_limits<Capacity>::max();
    walk(start, sink, [&](const Step& step, NodeIndex node) {
      if (step.arc < 0) {
        room = std::min(room, use(step.group, node).amount);
      } else {
        room = std::min(room,
                        step.forward ? network_.capacity(step.arc) - flow_[index(step.arc)] : flow_[index(step.arc)]);
      }
    });
    const Capacity amount = send_from(start, room);
    walk(start, sink, [&](const Step& step, NodeIndex node) {
      if (step.arc < 0) {
        use(step.group, node).amount -= amount;
        use(step.group, groups_[step.group].found_from).amount += amount;
      } else {
        if (flow_[index(step.arc)] == 0) touched_.push_back(step.arc);
        flow_[index(step.arc)] += step.forward ? amount : -amount;
      }
    });
    return amount;
  }

  // Starts at most `most` copies of groups from the node; returns how many were started.
  Capacity send_from(NodeIndex node, Capacity most) {
    Capacity sent = 0;
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t bits = missing_[word] & at_[index(node) * words_ + word]; bits != 0; bits &= bits - 1) {
        const std::size_t number = first_of(word, bits);
        const Capacity amount = std::min(groups_[number].left, most - sent);
        if (amount == 0) continue;
        groups_[number].left -= amount;
        use(number, node).amount += amount;
        sent += amount;
      }
    }
    return sent;
  }

  template <class Each>
  void walk(NodeIndex node, NodeIndex sink, Each each) const {
    while (node != sink) {
      const Step step = step_[index(node)];
      each(step, node);
      if (step.arc < 0) {
        node = groups_[step.group].found_from;
      } else {
        node = step.forward ? network_.head(step.arc) : network_.tail(step.arc);
      }
    }
  }

  Use& use(std::size_t group, NodeIndex node) {
    auto& uses = groups_[group].uses;
    const auto found = std::find_if(uses.begin(), uses.end(), [&](const Use& each) { return each.at == node; });
    if (found != uses.end()) return *found;
    uses.push_back({node, 0});
    return uses.back();
  }

  const Network<Capacity>& network_;
  std::vector<Capacity> flow_;
  std::vector<ArcIndex> touched_;
  std::vector<Group> groups_;
  // Sets of trees: one bit for each tree, `words_` words for each set.
  std::size_t words_ = 0;
  std::vector<std::uint64_t> at_;                // for each node, the trees that reach it
  std::vector<std::uint64_t> missing_, unseen_;  // the trees that miss the sink; those that the search has not reached
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  std::vector<Step> step_;
  std::vector<Place> queue_;
};

}  // namespace forestcoll
