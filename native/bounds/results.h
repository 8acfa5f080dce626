// What the stages of bounds return.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/capacity.h"

namespace forestcoll {

template <class Capacity>
struct Bottleneck {
  Capacity weight_inside;         // p, before reduction: w(S)
  Capacity exit_capacity;         // q, before reduction: B+(S)
  std::vector<NodeIndex> inside;  // S, rising
};

struct AllToAllSpread {
  std::int64_t trees = 0;           // units that every terminal sends to every other ...
  std::vector<std::int64_t> loads;  // ... over these arcs
  std::vector<std::int64_t> lengths;
};

}  // namespace forestcoll
