// Cuts learned so far, and what they still allow: a fast, exact upper bound for growing trees.
//
// For a set T of nodes, slack(T) = B-(T) - (remaining trees whose root is outside T) must not fall below 0. A tree of
// multiplicity m that enters T more often than it must costs m of slack for each extra entry. The pool keeps sets whose
// slack became relevant. While a tree grows, a few word operations show whether an edge may be added.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

template <class Capacity>
class CutPool {
 public:
  explicit CutPool(NodeIndex nodes) : nodes_(static_cast<std::size_t>(nodes)) {}

  std::size_t size() const { return slack_.size(); }
  bool full() const { return size() >= kMostCuts; }
  // Adds the set of nodes for which `inside` holds; the growing tree has entered it `entries` times.
  template <class Inside>
  void add(Inside inside, Capacity slack, Capacity entries) {
    const std::size_t cut = size();
    if (cut == words_ * kBits) widen();
    for (std::size_t node = 0; node < nodes_; ++node) {
      if (inside(static_cast<NodeIndex>(node)))
        members_[node * words_ + cut / kBits] |= std::uint64_t{1} << (cut % kBits);
    }
    slack_.push_back(slack);
    entries_.push_back(entries);
    spare_.push_back(slack / multiplicity_ + !inside(root_));
    if (entries >= spare_[cut]) close(cut);
  }

  // Begins the growth of a tree of multiplicity `multiplicity` from `root`.
  void begin_tree(NodeIndex root, Capacity multiplicity) {
    root_ = root;
    multiplicity_ = multiplicity;
    closed_.assign(words_, 0);
    for (std::size_t cut = 0; cut < size(); ++cut) {
      entries_[cut] = 0;
      spare_[cut] = slack_[cut] / multiplicity + !contains(cut, root);
      if (spare_[cut] == 0) close(cut);
    }
  }

  bool allows(NodeIndex tail, NodeIndex head) const {
    const std::uint64_t* from = row(tail);
    const std::uint64_t* to = row(head);
    for (std::size_t word = 0; word < words_; ++word) {
      if ((to[word] & ~from[word] & closed_[word]) != 0) return false;
    }
    return true;
  }

  void enter(NodeIndex tail, NodeIndex head) {
    const std::uint64_t* from = row(tail);
    const std::uint64_t* to = row(head);
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t bits = to[word] & ~from[word]; bits != 0; bits &= bits - 1) {
        const std::size_t cut = word * kBits + static_cast<std::size_t>(__builtin_ctzll(bits));
        ++entries_[cut];
        if (entries_[cut] >= spare_[cut]) close(cut);
      }
    }
  }

  // The grown tree is accepted with `multiplicity`: the slack of every set is reduced by the entries beyond the needed
  // one.
  void end_tree(Capacity multiplicity) {
    for (std::size_t cut = 0; cut < size(); ++cut) {
      slack_[cut] -= multiplicity * (entries_[cut] - !contains(cut, root_));
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
  static constexpr std::size_t kMostCuts = 4096;

  bool contains(std::size_t cut, NodeIndex node) const { return ((row(node)[cut / kBits] >> (cut % kBits)) & 1) != 0; }
  const std::uint64_t* row(NodeIndex node) const { return members_.data() + static_cast<std::size_t>(node) * words_; }
  void close(std::size_t cut) { closed_[cut / kBits] |= std::uint64_t{1} << (cut % kBits); }

  void widen() {
    std::vector<std::uint64_t> wider(nodes_ * (words_ + 1));
    for (std::size_t node = 0; node < nodes_; ++node) {
      for (std::size_t word = 0; word < words_; ++word)
        wider[node * (words_ + 1) + word] = members_[node * words_ + word];
    }
    members_ = std::move(wider);
    ++words_;
    closed_.push_back(0);
  }

  std::size_t nodes_, words_ = 0;
  NodeIndex root_ = 0;                  // of the growing tree
  Capacity multiplicity_ = 1;           // of the growing tree
  std::vector<std::uint64_t> members_;  // for each node, one bit for each cut
  std::vector<std::uint64_t> closed_;   // one bit for each cut that the tree may not enter again
  std::vector<Capacity> slack_, entries_, spare_;
};

}  // namespace forestcoll
