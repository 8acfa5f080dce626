// Trees of bounded height that load all links about equally: an edge with the least price is added, then nodes move.
//
// A link with the load b (the number of trees that use it, times its weight) counts b^6; the price of an edge is by how
// much the sum over all links grows. A tree is grown in three ways, and the best one is kept. Then trees take turns: a
// tree grows again and replaces the old one if the sum falls, and each node moves to the parent with the least price.
//
// Invariant: for each node w of a growing tree and each node u such that w is on a shortest path from the root to u,
// the depth of w plus the distance from w to u does not exceed the height. So each node can still join. Cost: for N
// places and T trees, each pass looks at about 4 T N^2 edges.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "flow/capacity.h"
#include "flow/observer.h"

namespace forestcoll {

// Sends between places: that from `source` to `target` has the number source * places + target.
template <class Capacity>
struct ShallowSends {
  std::int32_t places;
  std::vector<std::vector<std::int32_t>> links;  // of each send; none if it is not possible
  std::vector<std::int32_t> following;  // for a root and a node: the most sends to a node that is reached over the node
  std::vector<Capacity> weights;        // of each link
};

// The roots of the trees, and in each tree the parent of each place; the parent of a root is -1.
struct ShallowForest {
  std::vector<std::int32_t> roots, parents;
};

template <class Capacity>
class ShallowTrees {
 public:
  ShallowTrees(const ShallowSends<Capacity>& sends, std::int32_t height, Observer& observer)
      : sends_(sends), places_(index(sends.places)), height_(height), observer_(observer) {
    check();
    loads_.resize(sends.weights.size());
    for (const Capacity weight : sends.weights) factors_.push_back(sixth_power(weight));
    prices_ = factors_;
  }

  // Grows a tree from each of `roots`, then `more` trees from the cheapest of them, and moves nodes for `passes`.
  ShallowForest run(const std::vector<std::int32_t>& roots, std::int32_t more, std::int32_t passes) {
    for (const std::int32_t root : roots) {
      if (root < 0 || index(root) >= places_) throw std::invalid_argument("a root is out of range");
      trees_.push_back(grow(index(root)));
    }
    if (roots.empty()) throw std::invalid_argument("roots must not be empty");
    for (std::int32_t count = 0; count < more; ++count) trees_.push_back(grow(cheapest(roots)));
    for (std::int32_t pass = 0; pass < passes; ++pass) {
      bool is_better = false;
      for (Tree& tree : trees_) is_better |= improve(tree);
      if (!is_better) break;
    }
    ShallowForest found;
    for (const Tree& tree : trees_) {
      found.roots.push_back(static_cast<std::int32_t>(tree.root));
      found.parents.insert(found.parents.end(), tree.parents.begin(), tree.parents.end());
    }
    return found;
  }

 private:
  struct Tree {
    std::size_t root;
    std::vector<std::int32_t> parents, depths;
  };

  // The best edge to a node that can join: its price, times a power of the depth of the child, and the parent.
  struct Offer {
    Capacity price = -1;
    std::size_t parent = 0;
  };

  // The exponents of the depth that are tried.
  static constexpr std::array<int, 3> orders{0, 1, 4};

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  static Capacity sixth_power(Capacity number) {
    const Capacity cube = checked_multiply(number, checked_multiply(number, number));
    return checked_multiply(cube, cube);
  }

  void check() const {
    if (sends_.places < 1) throw std::invalid_argument("places must be 1 or more");
    const std::size_t pairs = places_ * places_;
    if (sends_.links.size() != pairs || sends_.following.size() != pairs) {
      throw std::invalid_argument("links and following must have one entry per pair of places");
    }
    for (const auto& links : sends_.links) {
      for (const std::int32_t link : links) {
        if (link < 0 || index(link) >= sends_.weights.size()) {
          throw std::invalid_argument("a link number is out of range");
        }
      }
    }
  }

  std::size_t cheapest(const std::vector<std::int32_t>& roots) {
    std::size_t best = 0;
    Capacity least = -1;
    for (const std::int32_t root : roots) {
      Capacity growth = -1;
      for (const int order : orders) {
        const Capacity found = grown(index(root), order).second;
        if (growth < 0 || found < growth) growth = found;
      }
      if (least < 0 || growth < least) std::tie(best, least) = std::pair(index(root), growth);
    }
    return best;
  }

  // The best tree of all orders; its links are loaded.
  Tree grow(std::size_t root) {
    auto [best, least] = grown(root, orders.front());
    for (std::size_t place = 1; place < orders.size(); ++place) {
      auto [tree, growth] = grown(root, orders[place]);
      if (growth < least) std::tie(best, least) = std::pair(std::move(tree), growth);
    }
    load_tree(best, 1);
    return std::move(best);
  }

  // A tree, and by how much it makes the sum grow.
  std::pair<Tree, Capacity> grown(std::size_t root, int order) {
    observer_.pulse();
    Tree tree{root, std::vector<std::int32_t>(places_, -1), std::vector<std::int32_t>(places_)};
    std::vector<Offer> offers(places_);
    std::vector<std::size_t> left;
    for (std::size_t node = 0; node < places_; ++node) {
      if (node != root) left.push_back(node);
    }
    Capacity total = 0;
    for (std::size_t fresh = root; !left.empty();) {
      make_offers(tree, fresh, order, left, offers);
      fresh = best_offer(left, offers);
      const std::size_t parent = offers[fresh].parent;
      std::erase(left, fresh);
      tree.parents[fresh] = static_cast<std::int32_t>(parent);
      tree.depths[fresh] = tree.depths[parent] + 1;
      total = checked_add(total, price(parent, fresh));
      load(parent, fresh, 1);
    }
    load_tree(tree, -1);
    return {std::move(tree), total};
  }

  // Offers edges from a new node of a tree to the nodes that are left.
  void make_offers(const Tree& tree, std::size_t fresh, int order, const std::vector<std::size_t>& left,
                   std::vector<Offer>& offers) const {
    const std::int32_t depth = tree.depths[fresh];
    Capacity factor = 1;
    for (int count = 0; count < order; ++count) factor = checked_multiply<Capacity>(factor, depth + 1);
    for (const std::size_t node : left) {
      const bool is_near = depth + sends_.following[tree.root * places_ + node] < height_;
      if (!is_near || sends_.links[fresh * places_ + node].empty()) continue;
      const Capacity cost = checked_multiply(price(fresh, node), factor);
      Offer& offer = offers[node];
      if (offer.price < 0 || std::pair(cost, fresh) < std::pair(offer.price, offer.parent)) offer = {cost, fresh};
    }
  }

  static std::size_t best_offer(const std::vector<std::size_t>& left, const std::vector<Offer>& offers) {
    const auto key = [&](std::size_t node) { return std::tuple(offers[node].price, offers[node].parent, node); };
    std::size_t best = left.front();
    for (const std::size_t node : left) {
      if (offers[node].price >= 0 && (offers[best].price < 0 || key(node) < key(best))) best = node;
    }
    if (offers[best].price < 0) throw std::invalid_argument("no tree of this height reaches all places");
    return best;
  }

  // Changes the loads of the links of a tree, and returns what its links add to the sum.
  Capacity load_tree(const Tree& tree, std::int64_t change) {
    Capacity total = 0;
    for (std::size_t node = 0; node < places_; ++node) {
      if (node == tree.root) continue;
      const std::size_t parent = index(tree.parents[node]);
      if (change > 0) total = checked_add(total, price(parent, node));
      load(parent, node, change);
      if (change < 0) total = checked_add(total, price(parent, node));
    }
    return total;
  }

  // Grows a tree again, and moves its nodes; returns whether it changed.
  bool improve(Tree& tree) {
    const Capacity known = load_tree(tree, -1);
    Tree other = grow(tree.root);
    bool is_better = load_tree(other, -1) < known;
    if (is_better) tree = std::move(other);
    load_tree(tree, 1);
    for (std::size_t node = 0; node < places_; ++node) is_better |= move(tree, node);
    return is_better;
  }

  // Lets a node join its best parent; returns whether that is another one.
  bool move(Tree& tree, std::size_t node) {
    if (node == tree.root) return false;
    observer_.pulse();
    const std::vector<bool> below = subtree(tree, node);
    std::int32_t deepest = 0;
    for (std::size_t each = 0; each < places_; ++each) {
      if (below[each]) deepest = std::max(deepest, tree.depths[each]);
    }
    const std::int32_t most = height_ - (deepest - tree.depths[node]) - 1;
    const std::size_t known = index(tree.parents[node]);
    load(known, node, -1);
    std::size_t best = known;
    Capacity least = price(known, node);
    for (std::size_t parent = 0; parent < places_; ++parent) {
      if (sends_.links[parent * places_ + node].empty() || tree.depths[parent] > most || below[parent]) continue;
      const Capacity found = price(parent, node);
      if (found < least) std::tie(best, least) = std::pair(parent, found);
    }
    load(best, node, 1);
    if (best == known) return false;
    tree.parents[node] = static_cast<std::int32_t>(best);
    const std::int32_t change = tree.depths[best] + 1 - tree.depths[node];
    for (std::size_t each = 0; each < places_; ++each) {
      if (below[each]) tree.depths[each] += change;
    }
    return true;
  }

  // Whether each place is in the subtree of a node.
  std::vector<bool> subtree(const Tree& tree, std::size_t node) const {
    std::vector<bool> below(places_);
    for (std::size_t each = 0; each < places_; ++each) {
      std::size_t above = each;
      while (above != node && tree.depths[above] > tree.depths[node]) above = index(tree.parents[above]);
      below[each] = above == node;
    }
    return below;
  }

  // By how much the sum grows with one more tree on the links of a send.
  Capacity price(std::size_t source, std::size_t target) const {
    Capacity total = 0;
    for (const std::int32_t link : sends_.links[source * places_ + target]) {
      total = checked_add(total, prices_[index(link)]);
    }
    return total;
  }

  void load(std::size_t source, std::size_t target, std::int64_t change) {
    for (const std::int32_t link : sends_.links[source * places_ + target]) {
      const std::int64_t now = loads_[index(link)] += change;
      prices_[index(link)] = checked_multiply(factors_[index(link)], growth(now));
    }
  }

  // The sixth power of a load plus 1, less that of the load.
  Capacity growth(std::int64_t load) {
    const auto place = static_cast<std::size_t>(load);
    while (growths_.size() <= place) {
      const auto known = static_cast<Capacity>(growths_.size());
      growths_.push_back(sixth_power(known + 1) - sixth_power(known));
    }
    return growths_[place];
  }

  const ShallowSends<Capacity>& sends_;
  std::size_t places_;
  std::int32_t height_;
  Observer& observer_;
  std::vector<std::int64_t> loads_;         // of each link
  std::vector<Capacity> factors_, prices_;  // of each link: the sixth power of its weight; for one more tree
  std::vector<Capacity> growths_;           // by load
  std::vector<Tree> trees_;
};

}  // namespace forestcoll
