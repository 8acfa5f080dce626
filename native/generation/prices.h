// The cost of a path. A hop counts most, because every hop uses capacity. Among paths with the same number of hops, the
// cost doubles with every 1/32 of the capacity of an arc that is used, so that paths spread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow/capacity.h"

namespace forestcoll {

using Cost = std::int64_t;

inline constexpr Cost kHop = Cost{1} << 46;

// The prices of capacities. A price depends on the part of its capacity that is used: it is at least 2^10 and less than
// 2^42, so that the prices of many arcs together are less than a hop. A price is one of 256, and few uses of a capacity
// change it, so that most uses need neither a division nor much memory.
template <class Capacity>
class Prices {
 public:
  // Adds a capacity, of which nothing is used.
  void add(Capacity full) {
    full_.push_back(full);
    least_.emplace_back();
    steps_.emplace_back();
    update(full_.size() - 1, full);
  }

  Cost operator[](std::size_t place) const { return kEighths[steps_[place] % 8] << (steps_[place] / 8); }
  Capacity full(std::size_t place) const { return full_[place]; }

  // Whether the price stays the same when less is left of the capacity, namely `left`.
  bool holds(std::size_t place, Capacity left) const { return left >= least_[place]; }

  // Computes the price. For large capacities the steps are rounded, because `used * kSteps` may overflow.
  void update(std::size_t place, Capacity left) {
    const Capacity full = full_[place];
    const bool is_large = full >= kLarge;
    const Capacity whole = is_large ? full / kSteps : std::max<Capacity>(full, 1);
    const Capacity parts = is_large ? 1 : kSteps;
    const Capacity step = (full - left) * parts / whole;
    const Capacity next = ((step + 1) * whole + parts - 1) / parts;  // the use from which the next step begins
    steps_[place] = static_cast<std::uint8_t>(step);
    least_[place] = full - next + 1;
  }

 private:
  static constexpr Cost kEighths[] = {1024, 1117, 1218, 1328, 1448, 1579, 1722, 1878};  // 1024 * 2^(i/8)
  static constexpr Capacity kSteps = 255;                                               // until all is used
  static constexpr Capacity kLarge = Capacity{1} << 54;

  std::vector<Capacity> full_;
  std::vector<Capacity> least_;  // what must be left so that the price holds
  std::vector<std::uint8_t> steps_;
};

}  // namespace forestcoll
