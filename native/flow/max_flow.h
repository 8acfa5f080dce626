// Max-flow, computed backwards: how much of what the nodes supply can reach a set of sinks?
//
// Every node may supply a limited or an unlimited amount. The search for augmenting paths runs from the sinks against
// the arcs and stops near the first nodes that can still supply; the computation stops when `needed` has arrived. So a
// question whose answer lies nearby visits few arcs, however large the network is. Phases are those of Dinic: label
// nodes by their distance from the sinks, then saturate all paths on which it rises; O(V^2 E) in the worst case.
//
// A node can be absorbed: it supplies without limit, and the arcs out of it count as supplies of the nodes that they
// lead to. A switch with N absorbed neighbours then supplies enough by itself, and a search stops there. Without this,
// each of N questions would visit N arcs. Minimum cuts stay the same, because an absorbed node is never on the side of
// the sinks.
//
// Invariant between calls: `into` removes the flow of the last call first, so capacities may change freely.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

template <class Capacity>
class MaxFlow {
 public:
  // The network must outlive this object; arcs may be added and capacities changed between calls.
  explicit MaxFlow(const Network<Capacity>& network)
      : network_(network), supply_(size()), from_absorbed_(size()), used_(size()), unlimited_(size()),
        absorbed_(size()), stamp_(size()), level_(size()), cursor_(size()) {}

  void set_supply(NodeIndex node, Capacity amount) { supply_[index(node)] = amount; }
  Capacity supply(NodeIndex node) const { return supply_[index(node)]; }
  void set_unlimited(NodeIndex node) { unlimited_[index(node)] = true; }
  // Makes the supply of the node unlimited, like `set_unlimited`, and counts the arcs out of it as supplies. If
  // capacities change after that, `absorb_again` must be called before the next question.
  void absorb(NodeIndex node) {
    unlimited_[index(node)] = absorbed_[index(node)] = true;
    for (const ArcIndex arc : network_.out(node)) {
      Capacity& fed = from_absorbed_[index(network_.head(arc))];
      fed = checked_add(fed, network_.capacity(arc));
    }
  }
  void absorb_again() {
    std::fill(from_absorbed_.begin(), from_absorbed_.end(), 0);
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      if (absorbed_[index(node)]) absorb(node);
    }
  }
  void limit_all() {
    std::fill(unlimited_.begin(), unlimited_.end(), false);
    std::fill(absorbed_.begin(), absorbed_.end(), false);
    std::fill(from_absorbed_.begin(), from_absorbed_.end(), 0);
  }

  // Returns min(needed, max-flow from all supplies into `sinks`); the supplies of the sinks count as arrived.
  Capacity into(std::span<const NodeIndex> sinks, Capacity needed) {
    start_over();
    Capacity arrived = 0;
    next_round();
    for (const NodeIndex sink : sinks) {
      if (labelled(sink)) continue;  // listed twice
      label(sink, 0);
      if (unlimited_[index(sink)]) return needed;
      arrived = checked_add(arrived, all_supply(sink));
      use(sink, all_supply(sink));
    }
    while (arrived < needed && label_from(sinks, needed - arrived)) arrived += saturate(sinks, needed - arrived);
    return std::min(arrived, needed);
  }

  // After a call: the flow over `arc`.
  Capacity flow(ArcIndex arc) const { return flow_[index(arc)]; }

  // After a call with a shortfall: whether `node` is on the side of the sinks in the minimum cut nearest to them.
  bool on_sink_side(NodeIndex node) const { return labelled(node); }

 private:
  struct Step {
    NodeIndex from;  // nearer to the sinks
    ArcIndex arc;
    bool forward;      // true: more flow over the arc towards `from`; false: take back flow that leaves `from`
    Capacity wanted;   // at `from`
    Capacity allowed;  // of this, what the arc can carry
  };

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }
  std::size_t size() const { return index(network_.nodes()); }

  bool labelled(NodeIndex node) const { return stamp_[index(node)] == round_; }
  void label(NodeIndex node, NodeIndex level) {
    stamp_[index(node)] = round_;
    level_[index(node)] = level;
    cursor_[index(node)] = 0;
  }
  void next_round() { ++round_; }

  Capacity all_supply(NodeIndex node) const { return checked_add(supply_[index(node)], from_absorbed_[index(node)]); }
  bool can_supply(NodeIndex node) const { return unlimited_[index(node)] || used_[index(node)] < all_supply(node); }
  bool can_supply(NodeIndex node, Capacity amount) const {
    return unlimited_[index(node)] || all_supply(node) - used_[index(node)] >= amount;
  }
  void use(NodeIndex node, Capacity amount) {
    if (used_[index(node)] == 0) users_.push_back(node);
    used_[index(node)] += amount;
  }

  void start_over() {
    flow_.resize(index(network_.arcs()));
    for (const ArcIndex arc : touched_) flow_[index(arc)] = 0;
    for (const NodeIndex node : users_) used_[index(node)] = 0;
    touched_.clear();
    users_.clear();
  }

  // Labels nodes with their distance from the sinks over arcs with capacity left, up to a quarter more than the first
  // distance at which a node can supply. Returns false if no node can. On a network whose nodes are far apart, the
  // quarter makes the number of phases logarithmic in the distances; without it, each distance would take a phase. What
  // is behind a node that can supply all that is missing is of no use, such as thousands of neighbours of a switch.
  bool label_from(std::span<const NodeIndex> sinks, Capacity missing) {
    next_round();
    queue_.clear();
    for (const NodeIndex sink : sinks) {
      if (labelled(sink)) continue;
      label(sink, 0);
      queue_.push_back(sink);
    }
    bool found = false;
    NodeIndex deepest = 0;
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const NodeIndex node = queue_[next];
      if (found && level_[index(node)] >= deepest) break;
      if (found && can_supply(node, missing)) continue;
      const auto visit = [&](NodeIndex neighbour) {
        if (labelled(neighbour) || absorbed_[index(neighbour)]) return;
        label(neighbour, level_[index(node)] + 1);
        queue_.push_back(neighbour);
        if (!found && can_supply(neighbour)) {
          found = true;
          deepest = level_[index(neighbour)] + level_[index(neighbour)] / 4;
        }
      };
      for (const ArcIndex arc : network_.in(node)) {
        if (flow_[index(arc)] < network_.capacity(arc)) visit(network_.tail(arc));
      }
      for (const ArcIndex arc : network_.out(node)) {
        if (flow_[index(arc)] > 0) visit(network_.head(arc));
      }
    }
    return found;
  }

  // Sends flow along labelled paths until there are none or `limit` has arrived; returns how much arrived.
  Capacity saturate(std::span<const NodeIndex> sinks, Capacity limit) {
    Capacity arrived = 0;
    for (const NodeIndex sink : sinks) arrived += draw(sink, limit - arrived);
    return arrived;
  }

  // Draws at most `limit` into `sink` from the nodes behind it. A step passes on all that the nodes behind it give
  // at once, so a long path costs its length only once.
  Capacity draw(NodeIndex sink, Capacity limit) {
    NodeIndex node = sink;
    Capacity wanted = limit;  // at `node`
    path_.clear();
    while (true) {
      wanted -= take(node, wanted);
      if (wanted > 0 && advance(node, wanted)) continue;
      if (path_.empty()) return limit - wanted;
      const Step step = path_.back();
      path_.pop_back();
      send(step, step.allowed - wanted);
      node = step.from;
      if (wanted > 0) ++cursor_[index(node)];  // nothing is left behind this step
      wanted = step.wanted - (step.allowed - wanted);
    }
  }

  // Moves one level away from the sinks, over the next arc at `node` that has capacity left, and asks for what it can
  // carry of `wanted`.
  bool advance(NodeIndex& node, Capacity& wanted) {
    const auto& in = network_.in(node);
    const auto& out = network_.out(node);
    const NodeIndex level = level_[index(node)] + 1;
    for (std::size_t& cursor = cursor_[index(node)]; cursor < in.size() + out.size(); ++cursor) {
      const bool forward = cursor < in.size();
      const ArcIndex arc = forward ? in[cursor] : out[cursor - in.size()];
      const NodeIndex neighbour = forward ? network_.tail(arc) : network_.head(arc);
      if (!labelled(neighbour) || level_[index(neighbour)] != level) continue;
      const Capacity residual = forward ? network_.capacity(arc) - flow_[index(arc)] : flow_[index(arc)];
      if (residual <= 0) continue;
      const Capacity allowed = std::min(wanted, residual);
      path_.push_back({node, arc, forward, wanted, allowed});
      node = neighbour;
      wanted = allowed;
      return true;
    }
    return false;
  }

  // Uses at most `wanted` of the supply of `node`; returns how much.
  Capacity take(NodeIndex node, Capacity wanted) {
    if (unlimited_[index(node)]) return wanted;
    const Capacity amount = std::min(wanted, all_supply(node) - used_[index(node)]);
    if (amount > 0) use(node, amount);
    return amount;
  }

  void send(const Step& step, Capacity amount) {
    if (amount == 0) return;
    Capacity& flow = flow_[index(step.arc)];
    if (flow == 0) touched_.push_back(step.arc);
    flow += step.forward ? amount : -amount;
  }

  const Network<Capacity>& network_;
  std::vector<Capacity> supply_, from_absorbed_, used_;  // for each node; `used_` counts what both supplies have sent
  std::vector<Capacity> flow_;
  std::vector<char> unlimited_, absorbed_;
  std::vector<ArcIndex> touched_;
  std::vector<NodeIndex> users_;
  std::vector<std::uint64_t> stamp_;
  std::uint64_t round_ = 0;
  std::vector<NodeIndex> level_;
  std::vector<std::size_t> cursor_;
  std::vector<NodeIndex> queue_;
  std::vector<Step> path_;
};

}  // namespace forestcoll
