// What a caller asks for: one operation on the memory of one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/elements.h"
#include "runtime/frame.h"
#include "runtime/plan.h"

namespace forestcoll::runtime {

struct Request {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Layout> layout;
  Descriptor descriptor;
  std::string collective;
  std::int64_t count = 0;  // elements of all data
  ElementType type{};
  Reduction reduction{};
  double factor = 1;
  std::int64_t members = 1;        // the divisor of an average
  const std::byte* own = nullptr;  // what this rank adds to the sum or, of flows, sends; none of a relay
  std::byte* result = nullptr;     // where results go, from element `result_begin` of the data on; none of a relay
  std::int64_t result_begin = 0;
};

}  // namespace forestcoll::runtime
