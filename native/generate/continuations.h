// Numbers of the continuations of prefixes by one more arc: a small table for each prefix.
//
// A tree continues few prefixes at a time, so that their tables stay in the cache of the processor. In one hash table
// for all prefixes, each of millions of continuations would be at another place.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

class Continuations {
 public:
  template <class Capacity>
  explicit Continuations(const Network<Capacity>& network) : places_(static_cast<std::size_t>(network.arcs())) {
    for (NodeIndex node = 0; node < network.nodes(); ++node) {
      const auto arcs = static_cast<std::uint32_t>(network.out(node).size());
      std::uint32_t place = 0;
      for (const ArcIndex arc : network.out(node)) places_[index(arc)] = {place++, std::bit_ceil(arcs)};
    }
  }

  // The number of the continuation of `prefix` by `arc`. If it is new, it gets the number `next`.
  std::int32_t add(std::int32_t prefix, ArcIndex arc, std::int32_t next) {
    if (index(prefix) >= tables_.size()) tables_.resize(std::max(index(prefix) + 1, 2 * tables_.size()));
    Table& table = tables_[index(prefix)];
    if (table.slots > 0) {
      const Slot& known = find(table, arc);
      if (known.arc == arc) return known.number;
    }
    const std::uint32_t most = places_[index(arc)].slots;
    if (table.slots < most && 4 * (table.count + 1) > 3 * table.slots) widen(table, most);
    ++table.count;
    find(table, arc) = {arc, next};
    return next;
  }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  struct Table {
    std::size_t first_slot = 0;
    std::uint32_t count = 0, slots = 0;  // `slots` is 0 or a power of two
  };
  struct Slot {
    ArcIndex arc = -1;
    std::int32_t number = -1;
  };

  // The slot of the arc, or the free slot where it would be. Arcs have slots in their order among the arcs out of the
  // node. So if there are enough slots for all of them, each is at its own place.
  Slot& find(const Table& table, ArcIndex arc) {
    const std::uint32_t mask = table.slots - 1;
    Slot* slots = slots_.data() + table.first_slot;
    std::uint32_t place = places_[index(arc)].number & mask;
    while (slots[place].arc != arc && slots[place].arc >= 0) place = (place + 1) & mask;
    return slots[place];
  }

  // Moves the continuations to a new place with four times as many slots, but no more than a slot for each arc.
  void widen(Table& table, std::uint32_t most) {
    const std::size_t begin = table.first_slot, end = begin + table.slots;
    table = {slots_.size(), table.count, std::min(most, std::max(kFewestSlots, 4 * table.slots))};
    slots_.resize(slots_.size() + table.slots);
    for (std::size_t slot = begin; slot < end; ++slot) {
      const Slot moved = slots_[slot];
      if (moved.arc >= 0) find(table, moved.arc) = moved;
    }
  }

  static constexpr std::uint32_t kFewestSlots = 4;

  // The number of an arc among the arcs out of its tail, and enough slots for all of them.
  struct Place {
    std::uint32_t number, slots;
  };

  std::vector<Place> places_;  // for each arc
  std::vector<Table> tables_;  // for each prefix
  std::vector<Slot> slots_;
};

}  // namespace forestcoll
