// Numbers the distinct paths of finished trees, in the order in which they are first met.
//
// Millions of paths are sorted by their prefixes (a counting sort), and equal paths of a prefix have the same last arc.
// This takes less memory than a table of all paths, in which each path would be looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/observer.h"
#include "generation/arc_path_table.h"
#include "generation/flat_paths.h"

namespace forestcoll {

using PathNumber = std::int32_t;

class PathNumbers {
 public:
  // Adds a path; equal ones may be added.
  void add(ArcPath path) {
    if (size_ == kMost) throw std::length_error("the trees have too many edges");
    if (size_ % kPathBlock == 0) blocks_.push_back(std::make_unique_for_overwrite<ArcPath[]>(kPathBlock));
    at(size_++) = path;
  }

  // Returns the number of each path that was added. From now on, each path is kept once, by its number. `prefixes` and
  // `arcs` are how many there are.
  std::vector<PathNumber> close(PrefixNumber prefixes, ArcIndex arcs, Observer& observer) {
    std::vector<PathNumber> numbers = first_places(prefixes, arcs, observer);
    std::size_t distinct = 0;
    for (std::size_t place = 0; place < size_; ++place) {
      if (place % kPathBlock == 0) observer.pulse();
      const auto first = static_cast<std::size_t>(numbers[place]);
      if (first == place) at(distinct) = at(place);
      numbers[place] = first == place ? static_cast<PathNumber>(distinct++) : numbers[first];
    }
    size_ = distinct;
    blocks_.resize((distinct + kPathBlock - 1) / kPathBlock);
    return numbers;
  }

  PathNumber size() const { return static_cast<PathNumber>(size_); }
  ArcPath operator[](PathNumber number) const { return at(static_cast<std::size_t>(number)); }

  // Frees the memory of `kPathBlock` paths.
  void forget(std::size_t block) { blocks_[block].reset(); }

 private:
  static constexpr std::size_t kMost = std::numeric_limits<PathNumber>::max();

  // For each path that was added, the place of the first that is equal.
  std::vector<PathNumber> first_places(PrefixNumber prefixes, ArcIndex arcs, Observer& observer) const {
    std::vector<PathNumber> found(size_);
    std::vector<std::pair<PrefixNumber, PathNumber>> seen(static_cast<std::size_t>(arcs), {-1, -1});
    for (const PathNumber place : by_prefix(prefixes, observer)) {
      const ArcPath path = (*this)[place];
      auto& [prefix, first] = seen[static_cast<std::size_t>(path.last)];
      if (std::exchange(prefix, path.prefix) != path.prefix) first = place;
      found[static_cast<std::size_t>(place)] = first;
    }
    return found;
  }

  // The places of all paths, those with the same prefix one after the other, in rising order.
  std::vector<PathNumber> by_prefix(PrefixNumber prefixes, Observer& observer) const {
    std::vector<PathNumber> starts(static_cast<std::size_t>(prefixes) + 1), sorted(size_);
    for (std::size_t place = 0; place < size_; ++place) ++starts[static_cast<std::size_t>(at(place).prefix) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (std::size_t place = 0; place < size_; ++place) {
      if (place % kPathBlock == 0) observer.pulse();
      PathNumber& next = starts[static_cast<std::size_t>(at(place).prefix)];
      sorted[static_cast<std::size_t>(next++)] = static_cast<PathNumber>(place);
    }
    return sorted;
  }

  ArcPath& at(std::size_t place) const { return blocks_[place / kPathBlock][place % kPathBlock]; }

  std::vector<std::unique_ptr<ArcPath[]>> blocks_;  // not one array, whose memory could only be freed as a whole
  std::size_t size_ = 0;
};

}  // namespace forestcoll
