// MultiTree (ISCA 2021): trees from all members take turns in adding an edge; in each time step all links are free
// again.
//
// A tree adds the path with the least price from one of its nodes over switches to a missing member. Prices never fall
// within a step, because copies and missing members only become fewer. So the price that a parent had is a lower bound,
// and the first parent in the tree's heap whose price is still the lowest has the best edge.
//
// The members after a node are kept as bits, for each width of links. Cost: a search visits the switches that the
// parent reaches, and the widths of the links after them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/capacity.h"
#include "flow/network.h"
#include "flow/observer.h"

namespace forestcoll {

enum class TurnRule : std::int32_t {
  source,     // the first parent in the order of joining, among the nodes that were in the tree when the step began
  widest,     // the path with the most copies left
  remaining,  // the same, and of equal paths that with the fewest hops
  bandwidth,  // the path of the greatest bandwidth, then that with the fewest hops
};

// Links that rise by their ends, with the place of each bandwidth among all, and the copies in each time step.
template <class Capacity>
struct TurnLinks {
  NodeIndex nodes;
  std::vector<NodeIndex> tails, heads;
  std::vector<Capacity> widths, copies;
};

// The paths of the edges of all trees, one tree after the other.
struct TurnPaths {
  std::vector<std::int32_t> starts{0}, nodes;
};

template <class Capacity>
class TakingTurns {
 public:
  TakingTurns(const TurnLinks<Capacity>& links, std::vector<NodeIndex> members, TurnRule rule)
      : links_(links), members_(std::move(members)), rule_(rule), place_(index(links.nodes), -1) {
    check();
    words_ = (members_.size() + 63) / 64;
    seen_.resize(index(links_.nodes));
    to_member_.resize(index(links_.nodes) * members_.size());
    for (std::size_t link = 0; link < links_.tails.size(); ++link) {
      widest_ = std::max(
          {widest_, checked_add<Capacity>(links_.widths[link], 1), checked_add<Capacity>(links_.copies[link], 1)});
      const std::int32_t place = place_[index(links_.heads[link])];
      if (place >= 0)
        to_member_[index(links_.tails[link]) * members_.size() + index(place)] = static_cast<ArcIndex>(link);
    }
    cheapest_ = -checked_multiply(widest_, static_cast<Capacity>(links_.nodes));
    for (std::size_t place = 0; place < members_.size(); ++place)
      trees_.emplace_back(members_[place], place, members_.size());
  }

  // Empty if some members cannot reach all others through switches and members.
  std::optional<TurnPaths> run(Observer& observer) {
    const auto is_growing = [](const Tree& tree) { return tree.left > 0; };
    while (std::any_of(trees_.begin(), trees_.end(), is_growing)) {
      if (!run_step(observer)) return std::nullopt;
    }
    TurnPaths all;
    for (const Tree& tree : trees_) {
      for (const auto& path : tree.paths) {
        all.nodes.insert(all.nodes.end(), path.begin(), path.end());
        all.starts.push_back(static_cast<std::int32_t>(all.nodes.size()));
      }
    }
    return all;
  }

 private:
  using Words = std::vector<std::uint64_t>;
  using Parent = std::pair<Capacity, std::int32_t>;  // the expected price, and the place among the joined nodes

  struct Tree {
    Tree(NodeIndex root, std::size_t first_, std::size_t members)
        : first(first_), left(members - 1), missing((members + 63) / 64), joined{root} {
      for (std::size_t place = 0; place < members; ++place) missing[place / 64] |= std::uint64_t{1} << (place % 64);
      remove(first);
    }
    void remove(std::size_t place) { missing[place / 64] &= ~(std::uint64_t{1} << (place % 64)); }

    std::size_t first, left;        // the place of the root among the members; the number of missing members
    Words missing;                  // members as bits
    std::vector<NodeIndex> joined;  // in this order
    std::vector<Parent> parents;    // a heap of the nodes that may still find a child in this step
    std::vector<std::vector<NodeIndex>> paths;
  };

  // Members after a node over links of one width.
  struct Children {
    Capacity width;
    Words members;
  };

  // A node of a search, with the width of the path to it, and the entry before it.
  struct Reached {
    NodeIndex node;
    Capacity width;
    std::size_t before;
  };

  struct Edge {
    Capacity price;
    std::size_t tie;
    std::size_t last;   // the entry of `reached_` before the child
    std::size_t child;  // its place among the members
  };

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  void check() {
    const std::size_t count = links_.tails.size();
    if (links_.heads.size() != count || links_.widths.size() != count || links_.copies.size() != count) {
      throw std::invalid_argument("tails, heads, widths and copies must have the same length");
    }
    const auto is_node = [this](NodeIndex node) { return node >= 0 && node < links_.nodes; };
    for (std::size_t link = 0; link < count; ++link) {
      if (!is_node(links_.tails[link]) || !is_node(links_.heads[link])) {
        throw std::invalid_argument("a node number is out of range");
      }
      if (links_.widths[link] < 0 || links_.copies[link] < 1) {
        throw std::invalid_argument("a width must be 0 or more, and the copies of a link 1 or more");
      }
    }
    if (members_.empty()) throw std::invalid_argument("members must not be empty");
    for (std::size_t place = 0; place < members_.size(); ++place) {
      if (!is_node(members_[place]) || place_[index(members_[place])] >= 0) {
        throw std::invalid_argument("members must be different nodes");
      }
      place_[index(members_[place])] = static_cast<std::int32_t>(place);
    }
    if (rule_ < TurnRule::source || rule_ > TurnRule::bandwidth) throw std::invalid_argument("there is no such rule");
  }

  // Frees all copies, and lets the trees take turns until none can grow; returns whether any has grown.
  bool run_step(Observer& observer) {
    begin_step();
    for (bool has_grown = false;; has_grown = true) {
      bool is_growing = false;
      for (Tree* tree : growing_) {
        if (add_to(*tree)) is_growing = true;
        observer.pulse();
      }
      if (!is_growing) return has_grown;
    }
  }

  void begin_step() {
    left_ = links_.copies;
    children_.assign(index(links_.nodes), {});
    switches_.assign(index(links_.nodes), {});
    for (std::size_t link = 0; link < left_.size(); ++link) {
      if (place_[index(links_.heads[link])] >= 0) {
        insert(link);
      } else {
        switches_[index(links_.tails[link])].push_back(link);
      }
    }
    growing_.clear();
    for (Tree& tree : trees_) {
      if (tree.left == 0) continue;
      tree.parents.clear();
      for (std::size_t place = 0; place < tree.joined.size(); ++place) {
        tree.parents.emplace_back(cheapest_, static_cast<std::int32_t>(place));
      }
      growing_.push_back(&tree);
    }
  }

  Capacity width(std::size_t link) const {
    if (rule_ == TurnRule::source) return 1;
    return rule_ == TurnRule::bandwidth ? links_.widths[link] : left_[link];
  }

  // The children of the link's tail of the link's width, or the place to insert them: the widest are first.
  auto find_children(std::size_t link) {
    auto& children = children_[index(links_.tails[link])];
    return std::lower_bound(children.begin(), children.end(), width(link),
                            [](const Children& each, Capacity value) { return each.width > value; });
  }

  static void flip(Words& words, std::int32_t place) {
    words[index(place) / 64] ^= std::uint64_t{1} << (index(place) % 64);
  }

  // Adds the link's head to the children of its tail.
  void insert(std::size_t link) {
    auto& children = children_[index(links_.tails[link])];
    auto found = find_children(link);
    if (found == children.end() || found->width != width(link))
      found = children.insert(found, {width(link), Words(words_)});
    flip(found->members, place_[index(links_.heads[link])]);
  }

  void remove(std::size_t link) {
    const auto found = find_children(link);
    flip(found->members, place_[index(links_.heads[link])]);
    const bool is_empty =
        std::all_of(found->members.begin(), found->members.end(), [](auto word) { return word == 0; });
    if (is_empty) children_[index(links_.tails[link])].erase(found);
  }

  // Takes a copy of a link.
  void take(std::size_t link) {
    if (place_[index(links_.heads[link])] < 0) {
      if (--left_[link] == 0) std::erase(switches_[index(links_.tails[link])], link);
      return;
    }
    remove(link);
    if (--left_[link] > 0) insert(link);
  }

  bool add_to(Tree& tree) {
    while (tree.left > 0 && !tree.parents.empty()) {
      const std::int32_t parent = tree.parents.front().second;
      const auto found = search(tree.joined[index(parent)], tree);
      std::pop_heap(tree.parents.begin(), tree.parents.end(), std::greater<>());
      if (!found) {
        tree.parents.pop_back();
        continue;
      }
      tree.parents.back() = {rule_ == TurnRule::source ? cheapest_ : found->price, parent};
      std::push_heap(tree.parents.begin(), tree.parents.end(), std::greater<>());
      if (tree.parents.front().second != parent) continue;
      add(tree, *found);
      return true;
    }
    return false;
  }

  void add(Tree& tree, const Edge& edge) {
    const NodeIndex child = members_[edge.child];
    std::vector<NodeIndex> path{child};
    take(index(to_member_[index(reached_[edge.last].node) * members_.size() + edge.child]));
    for (std::size_t entry = edge.last;; entry = reached_[entry].before) {
      path.push_back(reached_[entry].node);
      if (entry == 0) break;
      take(to_switch(reached_[reached_[entry].before].node, reached_[entry].node));
    }
    std::reverse(path.begin(), path.end());
    tree.paths.push_back(std::move(path));
    tree.remove(edge.child);
    --tree.left;
    if (rule_ != TurnRule::source) {
      tree.parents.emplace_back(cheapest_, static_cast<std::int32_t>(tree.joined.size()));
      std::push_heap(tree.parents.begin(), tree.parents.end(), std::greater<>());
    }
    tree.joined.push_back(child);
  }

  std::size_t to_switch(NodeIndex tail, NodeIndex head) const {
    const auto& after = switches_[index(tail)];
    return *std::find_if(after.begin(), after.end(), [&](std::size_t link) { return links_.heads[link] == head; });
  }

  // The cheapest path from `parent` through switches to a missing member; of equal ones, that which is found first.
  std::optional<Edge> search(NodeIndex parent, const Tree& tree) {
    std::optional<Edge> best;
    reached_.assign(1, {parent, widest_, 0});
    seen_[index(parent)] = ++searches_;
    Capacity hops = 0;
    for (std::size_t begin = 0, end = 1; begin < end && (!best || is_worthwhile(begin, hops, best->price));) {
      ++hops;
      for (std::size_t entry = begin; entry < end; ++entry) {
        visit(entry, hops, tree, best);
        for (const std::size_t link : switches_[index(reached_[entry].node)]) {
          const NodeIndex target = links_.heads[link];
          if (std::exchange(seen_[index(target)], searches_) == searches_) continue;
          reached_.push_back({target, std::min(reached_[entry].width, width(link)), entry});
        }
      }
      begin = std::exchange(end, reached_.size());
    }
    return best;
  }

  bool is_worthwhile(std::size_t begin, Capacity hops, Capacity price) const {
    return std::any_of(reached_.begin() + static_cast<std::ptrdiff_t>(begin), reached_.end(),
                       [&](const Reached& each) { return price_of(each.width, hops) < price; });
  }

  // Compares the widest path over an entry to a missing member with the best one.
  void visit(std::size_t entry, Capacity hops, const Tree& tree, std::optional<Edge>& best) const {
    std::optional<std::size_t> found;
    Capacity most = -1;
    for (const Children& each : children_[index(reached_[entry].node)]) {
      const Capacity limited = std::min(each.width, reached_[entry].width);
      if (found && limited < most) break;
      const auto first = first_missing(each.members, tree);
      if (!first || (found && order(*found, tree) <= order(*first, tree))) continue;
      found = first;
      most = limited;
    }
    if (!found) return;
    const Edge edge{price_of(most, hops), rule_ == TurnRule::source ? 0 : order(*found, tree), entry, *found};
    if (!best || std::pair(edge.price, edge.tie) < std::pair(best->price, best->tie)) best = edge;
  }

  // The first missing member of `members` after the root in cyclic order; by the source's rule, of all.
  std::optional<std::size_t> first_missing(const Words& members, const Tree& tree) const {
    const std::size_t first = rule_ == TurnRule::source ? 0 : tree.first;
    const std::uint64_t after = ~std::uint64_t{0} << (first % 64);
    std::optional<std::size_t> found = first_bit(members[first / 64] & tree.missing[first / 64] & after, first / 64);
    for (std::size_t word = first / 64 + 1; word < words_ && !found; ++word) {
      found = first_bit(members[word] & tree.missing[word], word);
    }
    for (std::size_t word = 0; word <= first / 64 && !found; ++word) {
      found = first_bit(members[word] & tree.missing[word], word);
    }
    return found;
  }

  static std::optional<std::size_t> first_bit(std::uint64_t bits, std::size_t word) {
    if (bits == 0) return std::nullopt;
    return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }

  // The place of a member in the order in which members are preferred.
  std::size_t order(std::size_t place, const Tree& tree) const {
    if (rule_ == TurnRule::source) return place;
    return place >= tree.first ? place - tree.first : place + members_.size() - tree.first;
  }

  // The widest paths first, then, except by the widest rule, those with the fewest hops.
  Capacity price_of(Capacity width, Capacity hops) const {
    return (rule_ == TurnRule::widest ? 0 : hops) - width * static_cast<Capacity>(links_.nodes);
  }

  const TurnLinks<Capacity>& links_;
  std::vector<NodeIndex> members_;
  TurnRule rule_;
  std::vector<std::int32_t> place_;  // of each node among the members, or -1
  std::vector<ArcIndex> to_member_;  // the link from each node to each member
  std::size_t words_ = 0;
  Capacity widest_ = 1, cheapest_ = 0;  // above all widths; below all prices
  std::vector<Tree> trees_;
  std::vector<Tree*> growing_;
  // In a time step: the copies that are left, and for each node the members and the links to switches after it.
  std::vector<Capacity> left_;
  std::vector<std::vector<Children>> children_;
  std::vector<std::vector<std::size_t>> switches_;
  // In a search.
  std::vector<Reached> reached_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t searches_ = 0;
};

}  // namespace forestcoll
