// Sorts the nodes of a tree by their distance from the root in tree edges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

class DepthOrder {
 public:
  explicit DepthOrder(NodeIndex nodes) : depth_(static_cast<std::size_t>(nodes)), parent_(depth_.size()) {}

  // Returns `nodes` by rising distance from the root, in the given order at equal distance: a counting sort. `nodes`
  // are the root and all nodes that the tree reaches, and `parent(node)` is the node before `node` in the tree.
  template <class Parent>
  std::vector<NodeIndex> operator()(NodeIndex root, const std::vector<NodeIndex>& nodes, Parent parent) {
    std::fill(depth_.begin(), depth_.end(), -1);
    depth(root) = 0;
    for (const NodeIndex node : nodes) {
      if (node != root) parent_[static_cast<std::size_t>(node)] = parent(node);
    }
    starts_.assign(1, 0);
    for (const NodeIndex node : nodes) {
      find_depth(node);
      const auto found = static_cast<std::size_t>(depth(node));
      if (starts_.size() < found + 2) starts_.resize(found + 2);
      ++starts_[found + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    height_ = static_cast<NodeIndex>(starts_.size()) - 2;
    std::vector<NodeIndex> sorted(nodes.size());
    for (const NodeIndex node : nodes) sorted[starts_[static_cast<std::size_t>(depth(node))]++] = node;
    return sorted;
  }

  // The greatest distance in the last answer.
  NodeIndex height() const { return height_; }

 private:
  NodeIndex& depth(NodeIndex node) { return depth_[static_cast<std::size_t>(node)]; }

  // Computes the depth over the parents, without recursion.
  void find_depth(NodeIndex node) {
    ancestors_.clear();
    NodeIndex next = node;
    for (; depth(next) < 0; next = parent_[static_cast<std::size_t>(next)]) ancestors_.push_back(next);
    NodeIndex found = depth(next);
    for (auto below = ancestors_.rbegin(); below != ancestors_.rend(); ++below) depth(*below) = ++found;
  }

  std::vector<NodeIndex> depth_;     // for each node, or -1
  std::vector<NodeIndex> parent_;    // for each node but the root
  std::vector<std::size_t> starts_;  // for each depth, the place where its nodes begin in the sorted order
  std::vector<NodeIndex> ancestors_;
  NodeIndex height_ = 0;
};

}  // namespace forestcoll
