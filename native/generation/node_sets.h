// Many sets of nodes in little memory, each identified by a number.
//
// Each part of a partition of the nodes is a set, and so is its complement. They share one table with the label of each
// node, so that a set takes a few bytes. A set that belongs to no partition has a bit for each node.
//
// A hash of 128 bits finds out whether a set is known already. If two sets had the same hash, the second would not be
// kept. The choice of sets does not affect correctness, only how soon an answer is found.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flow/capacity.h"

namespace forestcoll {

using SetIndex = std::int32_t;

class SetHash {
 public:
  bool operator==(const SetHash&) const = default;

  // Adds the node to the set if it is missing, and removes it otherwise.
  void toggle(NodeIndex node) {
    one_ ^= mixed(2 * static_cast<std::uint64_t>(node) + 1);
    other_ ^= mixed(2 * static_cast<std::uint64_t>(node) + 2);
  }
  // The hash of the nodes that are in exactly one of the two sets.
  SetHash operator^(const SetHash& hash) const {
    SetHash both;
    both.one_ = one_ ^ hash.one_;
    both.other_ = other_ ^ hash.other_;
    return both;
  }

  struct Bucket {
    std::size_t operator()(const SetHash& hash) const { return static_cast<std::size_t>(hash.one_); }
  };

 private:
  // The finalizer of SplitMix64: every bit of the value changes about half of the bits of the result.
  static std::uint64_t mixed(std::uint64_t value) {
    value *= 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  std::uint64_t one_ = 0, other_ = 0;
};

class NodeSets {
 public:
  // A part of a partition, or its complement: the nodes that have `label` in the table, or all others.
  struct Part {
    std::int32_t table;
    NodeIndex label;
    bool is_complement;
  };

  SetIndex size() const { return static_cast<SetIndex>(sets_.size()); }
  bool contains(SetIndex set, NodeIndex node) const {
    const Part& part = sets_[static_cast<std::size_t>(set)];
    if (part.table == kBits) return bits_[static_cast<std::size_t>(part.label)][static_cast<std::size_t>(node)];
    const NodeIndex label = tables_[static_cast<std::size_t>(part.table)][static_cast<std::size_t>(node)];
    return (label == part.label) != part.is_complement;
  }

  // Keeps a table with the label of each node. Returns the number of the table.
  std::int32_t add_table(std::vector<NodeIndex> labels) {
    tables_.push_back(std::move(labels));
    return static_cast<std::int32_t>(tables_.size() - 1);
  }
  // Drops the newest table, to which no set refers.
  void drop_table() { tables_.pop_back(); }

  // Both functions keep a set as number `size()`. They return false if it is known already or there are too many sets.
  bool add(Part part, SetHash hash) {
    if (size() >= kMostSets || !known_.insert(hash).second) return false;
    sets_.push_back(part);
    return true;
  }
  bool add(const std::vector<bool>& members) {
    SetHash hash;
    for (std::size_t node = 0; node < members.size(); ++node) {
      if (members[node]) hash.toggle(static_cast<NodeIndex>(node));
    }
    if (bits_.size() >= kMostBits || !add(Part{kBits, static_cast<NodeIndex>(bits_.size()), false}, hash)) return false;
    bits_.push_back(members);
    return true;
  }

 private:
  static constexpr std::int32_t kBits = -1;       // instead of a table
  static constexpr SetIndex kMostSets = 1 << 18;  // because every tree has a bit for each set
  static constexpr std::size_t kMostBits = 1 << 15;

  std::vector<Part> sets_;
  std::vector<std::vector<NodeIndex>> tables_;
  std::vector<std::vector<bool>> bits_;
  std::unordered_set<SetHash, SetHash::Bucket> known_;
};

}  // namespace forestcoll
