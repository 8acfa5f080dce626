// Numbers the distinct paths of finished trees, in the order in which they are first met.
#pragma once

#include <cstdint>
#include <vector>

#include "generate/arc_path_table.h"
#include "generate/continuations.h"

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
  const std::vector<ArcPath>& paths() const { return paths_; }

 private:
  Continuations continuations_;
  std::vector<ArcPath> paths_;
};

}  // namespace forestcoll
