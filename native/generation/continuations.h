// Numbers of the continuations of prefixes by one more arc: a small table for each prefix.
//
// A tree continues few prefixes at a time, so that their tables stay in the cache of the processor. In one hash table
// for all prefixes, each of millions of continuations would be at another place. Memory grows in pieces that stay where
// they are: to move the tables into a larger array would take twice their memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
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
    if (index(prefix) >= tables_.size()) tables_.resize(index(prefix) + 1);
    Table& table = tables_[index(prefix)];
    if (table.size > 0) {
      const Slot& known = find(table, arc);
      if (known.arc == arc) return known.number;
    }
    const std::uint32_t most = places_[index(arc)].slots;
    if (table.size < most && 4 * (table.count + 1) > 3 * table.size) widen(table, most);
    ++table.count;
    find(table, arc) = {arc, next};
    return next;
  }

  // Frees the memory. From now on every continuation is new.
  void clear() {
    tables_.clear();
    tables_.shrink_to_fit();
    pieces_.clear();
    unused_ = {};
    left_ = 0;
  }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  struct Slot {
    ArcIndex arc = -1;
    std::int32_t number = -1;
  };
  struct Table {
    Slot* slots = nullptr;
    std::uint32_t count = 0, size = 0;  // `size` is 0 or a power of two
  };

  // The slot of the arc, or the free slot where it would be. Arcs have slots in their order among the arcs out of the
  // node. So if there are enough slots for all of them, each is at its own place.
  Slot& find(const Table& table, ArcIndex arc) const {
    const std::uint32_t mask = table.size - 1;
    std::uint32_t place = places_[index(arc)].number & mask;
    while (table.slots[place].arc != arc && table.slots[place].arc >= 0) place = (place + 1) & mask;
    return table.slots[place];
  }

  // Moves the continuations to a new place with four times as many slots, but no more than a slot for each arc.
  void widen(Table& table, std::uint32_t most) {
    const Table before = table;
    const std::uint32_t size = std::min(most, std::max(kFewestSlots, 4 * before.size));
    table = {take(size), before.count, size};
    for (std::uint32_t slot = 0; slot < before.size; ++slot) {
      const Slot moved = std::exchange(before.slots[slot], Slot{});
      if (moved.arc >= 0) find(table, moved.arc) = moved;
    }
    if (before.size > 0) unused_[place_of(before.size)].push_back(before.slots);
  }

  // Free slots; `size` is a power of two.
  Slot* take(std::uint32_t size) {
    std::vector<Slot*>& unused = unused_[place_of(size)];
    if (!unused.empty()) {
      Slot* const slots = unused.back();
      unused.pop_back();
      return slots;
    }
    if (left_ < size) {
      left_ = std::max<std::size_t>(size, kSmallestPiece << std::min(pieces_.size(), kMostDoublings));
      pieces_.push_back(std::make_unique<Slot[]>(left_));
      next_ = pieces_.back().get();
    }
    left_ -= size;
    return std::exchange(next_, next_ + size);
  }

  static std::size_t place_of(std::uint32_t size) { return static_cast<std::size_t>(std::countr_zero(size)); }

  static constexpr std::size_t kSmallestPiece = 1 << 8, kMostDoublings = 8;  // in slots: 2^8 to 2^16
  static constexpr std::uint32_t kFewestSlots = 4;

  // The number of an arc among the arcs out of its tail, and enough slots for all of them.
  struct Place {
    std::uint32_t number, slots;
  };

  std::vector<Place> places_;  // for each arc
  std::deque<Table> tables_;   // for each prefix
  std::vector<std::unique_ptr<Slot[]>> pieces_;
  Slot* next_ = nullptr;                       // in the last piece, the first slot that was never used
  std::size_t left_ = 0;                       // the number of slots from there on
  std::array<std::vector<Slot*>, 32> unused_;  // for each size, by its binary digits, the slots of tables that moved
};

}  // namespace forestcoll
