// What a path costs: first of all a hop for each arc, since every hop uses capacity; among paths of as many hops, twice
// as much with every 1/32 of an arc's capacity that is used, so that paths spread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flow/capacity.h"

namespace forestcoll {

using Cost = std::int64_t;

inline constexpr Cost kHop = Cost{1} << 46;

// The price of a capacity of which so much is used: 2^10 to less than 2^42, so that it takes many arcs to cost a hop.
// Of large capacities the used part is rounded, as 255 times what is used might not fit the width.
template <class Capacity>
Cost price(Capacity used, Capacity full) {
  constexpr Cost kSteps[] = {1024, 1117, 1218, 1328, 1448, 1579, 1722, 1878};  // 1024 * 2^(i/8)
  constexpr Capacity kLarge = Capacity{1} << 54;
  const Capacity parts = full < kLarge ? used * 255 / std::max<Capacity>(full, 1) : used / (full / 255);
  const auto part = static_cast<std::size_t>(parts);
  return kSteps[part % 8] << (part / 8);
}

}  // namespace forestcoll
