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
  explicit FlatLists(std::size_t lists) : lists_(lists) {}

  std::span<const Item> operator[](std::size_t list) const {
    return {items_.data() + lists_[list].begin, lists_[list].size};
  }

  // A list without room is moved to the end of the array, with room for twice as many items.
  void append(std::size_t list, Item item) {
    List& at = lists_[list];
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
  struct List {
    std::size_t begin = 0;
    std::uint32_t size = 0, room = 0;
  };

  std::vector<List> lists_;
  std::vector<Item> items_;
};

}  // namespace forestcoll
