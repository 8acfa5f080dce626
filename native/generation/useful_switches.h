// The switches from which a path through switches leads to a node that a tree misses.
#pragma once

#include <cstdint>
#include <vector>

#include "generation/growing_tree.h"

namespace forestcoll {

template <class Capacity>
class UsefulSwitches {
 public:
  // `is_terminal` says of each node whether it is a compute node.
  UsefulSwitches(const Network<Capacity>& network, const std::vector<char>& is_terminal)
      : network_(network), is_terminal_(is_terminal), marked_(is_terminal.size()) {}

  // From now on the marks are those for this tree.
  void mark(const GrowingTree<Capacity>& tree, const std::vector<NodeIndex>& terminals) {
    ++round_;
    switches_.clear();
    for (const NodeIndex node : terminals) {
      if (!tree.reaches(node)) mark_before(node);
    }
    for (std::size_t next = 0; next < switches_.size(); ++next) mark_before(switches_[next]);
  }

  bool contains(NodeIndex node) const { return marked_[static_cast<std::size_t>(node)] == round_; }

 private:
  void mark_before(NodeIndex node) {
    for (const ArcIndex arc : network_.in(node)) {
      const NodeIndex tail = network_.tail(arc);
      if (is_terminal_[static_cast<std::size_t>(tail)] || contains(tail)) continue;
      marked_[static_cast<std::size_t>(tail)] = round_;
      switches_.push_back(tail);
    }
  }

  const Network<Capacity>& network_;
  const std::vector<char>& is_terminal_;
  std::vector<std::uint32_t> marked_;  // for each node, the last round in which it was marked
  std::uint32_t round_ = 0;
  std::vector<NodeIndex> switches_;
};

}  // namespace forestcoll
