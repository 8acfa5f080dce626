// What is to be sent over one connection, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "runtime/staging.h"

namespace forestcoll::runtime {

// A chunk on its way out.
struct OutgoingChunk {
  std::uint32_t edge = 0;
  std::int32_t place = 0;
  std::uint32_t number = 0;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  StagingPool::Buffer owned;            // holds the data where it was made for this chunk
  std::optional<std::uint64_t> shared;  // where it lies in this rank's pages, for a rank of the same host
  bool is_read = false;                 // whether a rank of the same host reads it where it lies
};

// What an operation sends over one connection. The connection serves one turn after the other, and in a turn the edge
// that is least advanced.
class Turn {
 public:
  explicit Turn(std::int32_t lane) : lane(lane) {}

  void push(std::uint64_t advance, std::int32_t place) { ready_.emplace(advance, place); }
  std::optional<std::int32_t> pop() {
    if (ready_.empty()) return std::nullopt;
    const std::int32_t place = ready_.top().second;
    ready_.pop();
    return place;
  }

  const std::int32_t lane;
  std::int64_t chunks_left = 0;
  std::int64_t bytes_per_second = 0;
  bool opened = false;

 private:
  using Entry = std::pair<std::uint64_t, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready_;
};

}  // namespace forestcoll::runtime
