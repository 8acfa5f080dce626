// The images of rows of numbers under maps, such as the nodes of routes under the elements of a symmetry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "schedule/rows.h"

namespace forestcoll::schedule {

// Writes to `out`, for each of the maps, the image of each entry of `rows`. `maps` has `bound` numbers for each map:
// the images of the numbers from 0 to `bound` - 1. Throws if an entry is not such a number.
template <class Number, class Pulse>
void write_images(const Rows& rows, std::span<const Number> maps, std::size_t bound, std::span<Number> out,
                  Pulse pulse) {
  const std::size_t size = rows.all_entries().size(), count = bound == 0 ? 0 : maps.size() / bound;
  if (count * bound != maps.size() || out.size() != count * size) throw std::invalid_argument("sizes differ");
  const auto is_wrong = [&](Entry entry) { return entry < 0 || static_cast<std::size_t>(entry) >= bound; };
  rows.all_entries().visit([&](auto entries) {
    if (std::any_of(entries.begin(), entries.end(), is_wrong)) throw std::out_of_range("a number has no image");
    for (std::size_t map = 0; map < count; ++map) {
      pulse();
      const Number* const image = maps.data() + map * bound;
      Number* const begin = out.data() + map * size;
      std::transform(entries.begin(), entries.end(), begin, [&](Entry entry) { return image[entry]; });
    }
  });
}

}  // namespace forestcoll::schedule
