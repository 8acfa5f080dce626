// Named integer widths, and arithmetic that throws on overflow.
//
// Every algorithm is a template over its Capacity. The caller selects the narrowest width that holds the sum of all
// capacities and supplies. If that width is too narrow, the checked operations below throw and give no answer.
#pragma once

#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace forestcoll {

using NodeIndex = std::int32_t;  // a network has fewer than 2^31 nodes ...
using ArcIndex = std::int32_t;   // ... and fewer than 2^31 arcs

using Narrow = std::int64_t;          // enough for the capacities of most networks
__extension__ typedef __int128 Wide;  // capacities whose sums exceed 2^63 (NOLINT: __extension__ needs typedef)

class CapacityOverflow : public std::overflow_error {
 public:
  CapacityOverflow() : std::overflow_error("a capacity does not fit the integer width") {}
};

template <class Capacity>
Capacity checked_add(Capacity one, Capacity other) {
  Capacity sum;
  if (__builtin_add_overflow(one, other, &sum)) throw CapacityOverflow();
  return sum;
}

template <class Capacity>
Capacity checked_multiply(Capacity one, Capacity other) {
  Capacity product;
  if (__builtin_mul_overflow(one, other, &product)) throw CapacityOverflow();
  return product;
}

// std::gcd is not defined for __int128 in strict C++20.
template <class Capacity>
Capacity greatest_common_divisor(Capacity one, Capacity other) {
  while (other != 0) {
    const Capacity rest = one % other;
    one = other;
    other = rest;
  }
  return one;
}

}  // namespace forestcoll
