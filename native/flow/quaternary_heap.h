// A heap of items whose nodes have four children, the least item first. It has half as many levels as a binary heap,
// and the least of four children is found without branches that the processor cannot predict.
#pragma once

#include <cstddef>
#include <vector>

namespace forestcoll {

// Items that are equal come in no particular order.
template <class Item>
class QuaternaryHeap {
 public:
  bool empty() const { return items_.empty(); }

  void push(Item item) {
    std::size_t place = items_.size();
    items_.push_back(item);
    while (place > 0 && items_[(place - 1) / 4] > item) {
      items_[place] = items_[(place - 1) / 4];
      place = (place - 1) / 4;
    }
    items_[place] = item;
  }

  // Removes the least item.
  Item pop() {
    const Item least = items_.front(), last = items_.back();
    items_.pop_back();
    if (items_.empty()) return least;
    std::size_t place = 0;
    for (std::size_t child = least_child(0); child < items_.size() && last > items_[child];
         child = least_child(place)) {
      items_[place] = items_[child];
      place = child;
    }
    items_[place] = last;
    return least;
  }

 private:
  // The place of the least child of the item at `place`, or a place beyond the end if it has no child.
  std::size_t least_child(std::size_t place) const {
    const std::size_t first = 4 * place + 1;
    if (first + 4 <= items_.size()) {
      const std::size_t one = first + (items_[first] > items_[first + 1]);
      const std::size_t other = first + 2 + (items_[first + 2] > items_[first + 3]);
      const std::size_t other_is_less = items_[one] > items_[other];
      return one + (other - one) * other_is_less;
    }
    std::size_t least = first;
    for (std::size_t child = first + 1; child < items_.size(); ++child) {
      if (items_[least] > items_[child]) least = child;
    }
    return least;
  }

  std::vector<Item> items_;
};

}  // namespace forestcoll
