// The nodes of many paths in one array. Two threads write half of the paths each: most of the time is spent on memory
// that the process uses for the first time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "flow/network.h"
#include "flow/observer.h"
#include "generation/results.h"

namespace forestcoll {

inline constexpr std::int32_t kPathBlock = 1 << 16;

// `size_of(path)` returns the number of nodes of a path, and `write(path, out)` writes them. `close(block)` is called
// after all paths of the block are written: those from block * kPathBlock on. `write` and `close` are called from two
// threads at the same time.
template <class Node, class SizeOf, class Write, class Close>
FlatPaths<Node> flat_paths(std::int32_t paths, SizeOf size_of, Write write, Close close, Observer& observer) {
  FlatPaths<Node> flat;
  flat.starts.reserve(static_cast<std::size_t>(paths) + 1);
  flat.starts.push_back(0);
  std::size_t nodes = 0;
  for (std::int32_t path = 0; path < paths; ++path) {
    nodes += size_of(path);
    if (nodes > std::numeric_limits<std::int32_t>::max()) throw std::length_error("the paths are too long");
    flat.starts.push_back(static_cast<std::int32_t>(nodes));
  }
  flat.nodes = std::make_unique_for_overwrite<Node[]>(nodes);
  const auto write_some = [&](std::int32_t first, std::int32_t stop, auto pulse) {
    for (std::int32_t path = first; path < stop; ++path) {
      pulse();
      write(path, flat.nodes.get() + flat.starts[static_cast<std::size_t>(path)]);
      if (path % kPathBlock == kPathBlock - 1) close(static_cast<std::size_t>(path / kPathBlock));
    }
  };
  const std::int32_t middle = paths / kPathBlock / 2 * kPathBlock;
  // The future waits for its thread, also if the observer throws. If no thread can start, `get` does the work.
  auto others = std::async([&] { write_some(middle, paths, [] {}); });
  write_some(0, middle, [&] { observer.pulse(); });
  others.get();
  return flat;
}

}  // namespace forestcoll
