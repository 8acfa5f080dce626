// Numbers the distinct paths of finished trees, in the order in which they are first met.
#pragma once

#include <cstdint>
#include <deque>

#include "generation/arc_path_table.h"
#include "generation/continuations.h"

namespace forestcoll {

using PathNumber = std::int32_t;

class PathNumbers {
 public:
  template <class Capacity>
  explicit PathNumbers(const Network<Capacity>& network) : continuations_(network) {}

  PathNumber operator()(ArcPath path) {
    const auto next = static_cast<PathNumber>(paths_.size());
    const PathNumber number = continuations_.add(path.prefix, path.last, next);
    if (number == next) paths_.push_back(path);
    return number;
  }

  // The paths in the order of their numbers.
  const std::deque<ArcPath>& paths() const { return paths_; }

  // Frees the memory that only new numbers need; no path may be numbered after this.
  void close() { continuations_.clear(); }

 private:
  Continuations continuations_;
  std::deque<ArcPath> paths_;  // not in one array, which would be copied while it grows
};

}  // namespace forestcoll
