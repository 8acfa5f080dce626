// The cost of a path. A hop counts most, because every hop uses capacity. Among paths with the same number of hops, the
// cost doubles with every 1/32 of the capacity of an arc that is used, so that paths spread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flow/capacity.h"

namespace forestcoll {

using Cost = std::int64_t;

inline constexpr Cost kHop = Cost{1} << 46;

// The price of a capacity `full` of which `used` is used: at least 2^10 and less than 2^42, so that the prices of many
// arcs together are less than a hop. For large capacities the used part is rounded, because `used * 255` may overflow.
template <class Capacity>
Cost price(Capacity used, Capacity full) {
  constexpr Cost kSteps[] = {1024, 1117, 1218, 1328, 1448, 1579, 1722, 1878};  // 1024 * 2^(i/8)
  constexpr Capacity kLarge = Capacity{1} << 54;
  const Capacity parts = full < kLarge ? used * 255 / std::max<Capacity>(full, 1) : used / (full / 255);
  const auto part = static_cast<std::size_t>(parts);
  return kSteps[part % 8] << (part / 8);
}

}  // namespace forestcoll
