// Many short lists in one array, so that reading them in turn stays in the cache of the processor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forestcoll {

template <class Item>
class FlatLists {
 public:
  explicit FlatLists(std::size_t lists) : places_(lists) {}

  std::span<const Item> operator[](std::size_t list) const {
    if (items_.empty()) return {};
    const Place& at = places_[list];
    return {items_.data() + at.begin, at.size};
  }

  // A list without room is moved to the end of the array, with room for twice as many items.
  void append(std::size_t list, Item item) {
    Place& at = places_[list];
    if (at.size == at.room) {
      const std::size_t begin = items_.size();
      at.room = std::max<std::uint32_t>(1, 2 * at.room);
      items_.resize(begin + at.room);
      std::copy_n(items_.begin() + static_cast<std::ptrdiff_t>(at.begin), at.size,
                  items_.begin() + static_cast<std::ptrdiff_t>(begin));
      at.begin = begin;
    }
    items_[at.begin + at.size++] = item;
  }

 private:
  struct Place {
    std::size_t begin = 0;
    std::uint32_t size = 0, room = 0;
  };

  std::vector<Place> places_;
  std::vector<Item> items_;
};

}  // namespace forestcoll
