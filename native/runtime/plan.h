// What one rank does in a collective, for data of any size (Plan) and of one size (Layout).
//
// A flow is a part of the data that goes up one tree, where it is reduced, and down another, or one of the two; or what
// one rank sends to one other, down a path. An edge is one hop of one flow in one phase; its number is the same on both
// of its ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace forestcoll::runtime {

enum class Phase : std::uint8_t { kReduce = 0, kBroadcast = 1 };

struct PlannedEdge {
  std::uint32_t number = 0;  // of all edges of all ranks
  std::uint32_t flow = 0;
  Phase phase{};
  std::int32_t lane = 0;              // the connection
  std::int64_t window_bytes = 0;      // staging memory of the receiver; 0: it writes into the caller's memory
  std::int64_t bytes_per_second = 0;  // not used by edges that come in
};

// What a rank does for a flow; numbers are places in the plan's lists of edges, -1 for none.
struct PlannedFlow {
  std::vector<std::int32_t> children;  // edges that bring what is reduced, in the order of the sum
  std::int32_t up = -1;                // the edge that carries the sum on
  std::int32_t down = -1;              // the edge that brings what is broadcast
  std::vector<std::int32_t> onward;    // the edges that carry it on
};

class Plan {
 public:
  Plan(std::uint32_t flows, std::uint32_t edges, std::vector<PlannedEdge> incoming, std::vector<PlannedEdge> outgoing)
      : flows_(flows), incoming_(std::move(incoming)), outgoing_(std::move(outgoing)), place_(edges, -1) {
    for (std::size_t place = 0; place < incoming_.size(); ++place) add_incoming(static_cast<std::int32_t>(place));
    for (std::size_t place = 0; place < outgoing_.size(); ++place) add_outgoing(static_cast<std::int32_t>(place));
  }

  const std::vector<PlannedFlow>& flows() const { return flows_; }
  const std::vector<PlannedEdge>& incoming() const { return incoming_; }
  const std::vector<PlannedEdge>& outgoing() const { return outgoing_; }

  // The place of an edge in `incoming` or, for one that leaves this rank, in `outgoing`; -1 for an edge of others.
  std::int32_t place_of(std::uint32_t edge) const { return edge < place_.size() ? place_[edge] : -1; }

 private:
  void add_incoming(std::int32_t place) {
    const PlannedEdge& edge = register_place(incoming_, place);
    if (edge.phase == Phase::kReduce) {
      flows_[edge.flow].children.push_back(place);
    } else {
      flows_[edge.flow].down = place;
    }
  }

  void add_outgoing(std::int32_t place) {
    const PlannedEdge& edge = register_place(outgoing_, place);
    if (edge.phase == Phase::kReduce) {
      flows_[edge.flow].up = place;
    } else {
      flows_[edge.flow].onward.push_back(place);
    }
  }

  const PlannedEdge& register_place(const std::vector<PlannedEdge>& edges, std::int32_t place) {
    const PlannedEdge& edge = edges[static_cast<std::size_t>(place)];
    if (edge.flow >= flows_.size() || edge.number >= place_.size()) throw std::invalid_argument("a plan is malformed");
    place_[edge.number] = place;
    return edge;
  }

  std::vector<PlannedFlow> flows_;
  std::vector<PlannedEdge> incoming_, outgoing_;
  std::vector<std::int32_t> place_;
};

// Where a flow's part of the data lies, in elements. Of a flow from one rank to one other, the offset is that in the
// vector of the rank: what it sends at the source, its result at the target.
struct FlowRange {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t chunk = 1;

  std::uint32_t chunks() const { return static_cast<std::uint32_t>((count + chunk - 1) / chunk); }
  std::int64_t begin_of(std::uint32_t number) const { return offset + number * chunk; }
  std::int64_t size_of(std::uint32_t number) const { return std::min(chunk, offset + count - begin_of(number)); }
};

struct Layout {
  std::vector<FlowRange> ranges;  // of each flow
};

}  // namespace forestcoll::runtime
