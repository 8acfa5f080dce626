// Switch removal by edge splitting (ForestColl §5.3, appendix E.2, Algorithm 3).
//
// Every unit of capacity that enters a switch w from u is paired with one that leaves it to t, and becomes capacity of
// a logical link u -> t. At most gamma is moved at once: the greatest amount that keeps k trees from every compute node
// possible (Theorem 6). Cost: a switch with d neighbours takes about d splits (d * d if links are spread), and each
// split takes one flow question for each compute node, most of which end after a few arcs.
//
// Invariant: every compute node can receive k from each. The capacity into a switch must be at least the capacity out
// of it. Compute nodes need not be balanced: the theorem of Bang-Jensen, Frank and Jackson, which Theorem 4 quotes,
// requires balance of w only, if the unbalanced nodes are sufficiently connected among each other. Arcs of capacity
// N * k from every compute node back to the source ensure this; no cut between source and compute node contains them.
// In the same way, an arc from a switch to the source, with the excess of its incoming capacity, balances the switch.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "flow/max_flow.h"
#include "flow/observer.h"
#include "generation/paths.h"
#include "generation/results.h"

namespace forestcoll {

template <class Capacity>
class SwitchRemoval {
 public:
  // `supplies` gives, for each node, the number of trees that it is the root of.
  SwitchRemoval(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals,
                const std::vector<Capacity>& supplies)
      : result_{network, {}, {}}, terminals_(terminals), max_flow_(result_.network),
        is_terminal_(static_cast<std::size_t>(network.nodes())) {
    for (const NodeIndex terminal : terminals) {
      max_flow_.set_supply(terminal, supplies[static_cast<std::size_t>(terminal)]);
      demand_ = checked_add(demand_, supplies[static_cast<std::size_t>(terminal)]);
      is_terminal_[static_cast<std::size_t>(terminal)] = true;
    }
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      const PathIndex path = result_.paths.add(std::vector<NodeIndex>{network.tail(arc), network.head(arc)});
      result_.stocks.emplace_back();
      if (network.capacity(arc) > 0) result_.stocks.back().push_back({path, network.capacity(arc)});
      arc_between_[key(network.tail(arc), network.head(arc))] = arc;
    }
  }

  LogicalNetwork<Capacity> run(Observer& observer) {
    std::vector<NodeIndex> switches;
    for (NodeIndex node = 0; node < result_.network.nodes(); ++node) {
      if (!is_terminal(node)) switches.push_back(node);
    }
    std::stable_sort(switches.begin(), switches.end(), [&](NodeIndex one, NodeIndex other) {
      return result_.network.out(one).size() < result_.network.out(other).size();
    });
    std::int64_t done = 0;
    for (const NodeIndex node : switches) {
      observer.advance(done++, static_cast<std::int64_t>(switches.size()));
      remove(node, observer);
    }
    return std::move(result_);
  }

  // gamma of Theorem 6, but at most `amount`: how much of u -> w -> t can become u -> t.
  Capacity split_capacity(NodeIndex u, NodeIndex w, NodeIndex t, Capacity amount, Observer& observer) {
    const auto order = breadth_first(result_.network, w, [&](NodeIndex node) { return is_terminal(node); });
    return split_capacity(u, w, t, amount, order, observer);
  }

 private:
  static std::uint64_t key(NodeIndex tail, NodeIndex head) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(tail)) << 32) | static_cast<std::uint32_t>(head);
  }
  bool is_terminal(NodeIndex node) const { return is_terminal_[static_cast<std::size_t>(node)]; }

  void remove(NodeIndex w, Observer& observer) {
    const auto order = breadth_first(result_.network, w, [&](NodeIndex node) { return is_terminal(node); });
    const std::vector<ArcIndex> ingress = open_arcs(result_.network.in(w));
    const std::vector<ArcIndex> egress = open_arcs(result_.network.out(w));
    // First spread each link over several partners, for low trees. Then use all remaining pairs. Only then may a unit
    // return to its origin, where it is lost.
    for (const Pass pass : {Pass::spread, Pass::rest, Pass::back}) {
      if (ingress.empty()) break;  // then there is no egress, or an error is thrown below
      for (std::size_t place = 0; place < egress.size(); ++place) {
        split_egress(egress[place], ingress, first_partner(place, ingress.size()), pass, order, observer);
      }
    }
    for (const ArcIndex arc : egress) {
      if (result_.network.capacity(arc) > 0) throw std::logic_error("a switch could not be split off");
    }
    for (const ArcIndex arc : ingress) drop(arc);
  }

  // Incoming capacity of a switch beyond its outgoing capacity leads nowhere.
  void drop(ArcIndex arc) {
    result_.network.add_capacity(arc, -result_.network.capacity(arc));
    result_.stocks[static_cast<std::size_t>(arc)].clear();
  }

  enum class Pass { spread, rest, back };

  std::vector<ArcIndex> open_arcs(const std::vector<ArcIndex>& arcs) const {
    std::vector<ArcIndex> open;
    for (const ArcIndex arc : arcs) {
      if (result_.network.capacity(arc) > 0) open.push_back(arc);
    }
    return open;
  }

  // Where the search for partners of the egress link at `place` begins: a different place for each, so that the first
  // pairs take whole links. The stride spreads neighbours over the network, which keeps logical distances short.
  static std::size_t first_partner(std::size_t place, std::size_t degree) {
    std::size_t stride = degree * 5 / 8 + 1;
    while (std::gcd(stride, degree) != 1) ++stride;
    return (place * stride + 1) % degree;
  }

  void split_egress(ArcIndex f, const std::vector<ArcIndex>& ingress, std::size_t first, Pass pass,
                    const std::vector<NodeIndex>& order, Observer& observer) {
    const NodeIndex w = result_.network.tail(f);
    const NodeIndex t = result_.network.head(f);
    const Capacity quota = spread_quota(f, ingress.size());
    for (std::size_t step = 0; step < ingress.size() && result_.network.capacity(f) > 0; ++step) {
      const ArcIndex e = ingress[(first + step) % ingress.size()];
      const NodeIndex u = result_.network.tail(e);
      if ((u == t) != (pass == Pass::back)) continue;
      Capacity amount = std::min(result_.network.capacity(e), result_.network.capacity(f));
      if (pass == Pass::spread) amount = std::min(amount, quota);
      if (amount == 0) continue;
      amount = split_capacity(u, w, t, amount, order, observer);
      if (amount > 0) split(e, f, amount);
    }
  }

  Capacity spread_quota(ArcIndex f, std::size_t degree) const {
    const auto partners = static_cast<Capacity>(std::clamp<std::size_t>(degree, 2, kMostPartners + 1) - 1);
    const Capacity capacity = result_.network.capacity(f);
    return capacity / partners + (capacity % partners != 0);
  }

  // The expanded form of Theorem 6. Its first network tests cuts with u, t outside the fed side and w inside, its
  // second one those with u, t inside and w outside; "infinite" arcs are unlimited supplies and additional sinks.
  Capacity split_capacity(NodeIndex u, NodeIndex w, NodeIndex t, Capacity amount, const std::vector<NodeIndex>& order,
                          Observer& observer) {
    max_flow_.limit_all();
    max_flow_.set_unlimited(u);
    max_flow_.set_unlimited(t);
    for (const NodeIndex v : order) {
      if (v == u || v == t) continue;
      amount = allowed({w, v}, amount, observer);
      if (amount == 0) return 0;
      max_flow_.set_unlimited(v);
    }
    max_flow_.limit_all();
    max_flow_.set_unlimited(w);
    if (is_terminal(t) || is_terminal(u)) return allowed({u, t}, amount, observer);
    for (const NodeIndex v : order) {
      amount = allowed({u, t, v}, amount, observer);
      if (amount == 0) return 0;
      max_flow_.set_unlimited(v);
    }
    return amount;
  }

  Capacity allowed(std::initializer_list<NodeIndex> sinks, Capacity amount, Observer& observer) {
    observer.pulse();
    const Capacity arrived = max_flow_.into({sinks.begin(), sinks.size()}, checked_add(demand_, amount));
    return std::max<Capacity>(arrived - demand_, 0);
  }

  void split(ArcIndex e, ArcIndex f, Capacity amount) {
    Network<Capacity>& network = result_.network;
    const NodeIndex u = network.tail(e);
    const NodeIndex t = network.head(f);
    network.add_capacity(e, -amount);
    network.add_capacity(f, -amount);
    Stock<Capacity> joined = join(e, f, amount);
    if (u == t) return;
    const ArcIndex arc = logical_arc(u, t);
    network.add_capacity(arc, amount);
    Stock<Capacity>& stock = result_.stocks[static_cast<std::size_t>(arc)];
    stock.insert(stock.begin(), joined.begin(), joined.end());  // direct links are used first: they are at the back
  }

  ArcIndex logical_arc(NodeIndex tail, NodeIndex head) {
    const auto [entry, added] = arc_between_.try_emplace(key(tail, head), result_.network.arcs());
    if (added) {
      result_.network.add_arc(tail, head, 0);
      result_.stocks.emplace_back();
    }
    return entry->second;
  }

  // Takes `amount` from the stocks of both arcs and returns the joined paths.
  Stock<Capacity> join(ArcIndex e, ArcIndex f, Capacity amount) {
    Stock<Capacity> joined;
    take(result_.stocks[static_cast<std::size_t>(e)], amount, [&](PathIndex first, Capacity part) {
      take(result_.stocks[static_cast<std::size_t>(f)], part, [&](PathIndex second, Capacity piece) {
        if (network_tail(e) != network_head(f)) joined.push_back({result_.paths.join(first, second), piece});
      });
    });
    return joined;
  }
  NodeIndex network_tail(ArcIndex arc) const { return result_.network.tail(arc); }
  NodeIndex network_head(ArcIndex arc) const { return result_.network.head(arc); }

  static constexpr std::size_t kMostPartners = 8;

  LogicalNetwork<Capacity> result_;
  const std::vector<NodeIndex>& terminals_;
  MaxFlow<Capacity> max_flow_;
  std::vector<char> is_terminal_;
  std::unordered_map<std::uint64_t, ArcIndex> arc_between_;
  Capacity demand_ = 0;
};

}  // namespace forestcoll
