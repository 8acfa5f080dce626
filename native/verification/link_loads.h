// The loads of links, found by the ends of a link. Hashing finds a link and its load in one place of the memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace forestcoll::verify {

class LinkLoads {
 public:
  // If several links have the same ends, the first of them gets the loads.
  LinkLoads(std::span<const std::int32_t> sources, std::span<const std::int32_t> targets) {
    if (sources.size() != targets.size()) throw std::invalid_argument("each link needs two ends");
    const int bits = std::bit_width(4 * sources.size() + 1);
    shift_ = 64 - bits;
    slots_.assign(std::size_t{1} << bits, Slot{kUnused, 0});
    for (std::size_t link = 0; link < sources.size(); ++link) {
      const std::uint64_t key = key_of(sources[link], targets[link]);
      const std::size_t place = place_of(key);
      places_.push_back(slots_[place].key == kUnused ? place : kRepeated);
      slots_[place].key = key;
    }
  }

  // Adds `units` to the load of the link from `source` to `target`. Returns false if there is no such link, or if the
  // load does not fit into 64 bits.
  bool add(std::int32_t source, std::int32_t target, std::int64_t units) {
    Slot& slot = slots_[place_of(key_of(source, target))];
    return slot.key != kUnused && !__builtin_add_overflow(slot.load, units, &slot.load);
  }

  // The load of each link, in the order of the links.
  std::vector<std::int64_t> in_order() const {
    std::vector<std::int64_t> loads;
    loads.reserve(places_.size());
    for (const std::size_t place : places_) loads.push_back(place == kRepeated ? 0 : slots_[place].load);
    return loads;
  }

 private:
  struct Slot {
    std::uint64_t key;
    std::int64_t load;
  };

  static constexpr std::uint64_t kUnused = ~std::uint64_t{0};  // no link: the numbers of nodes are not negative
  static constexpr std::size_t kRepeated = ~std::size_t{0};

  static std::uint64_t key_of(std::int32_t source, std::int32_t target) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(target);
  }

  // The slot of `key`, or the unused slot where it belongs. At most two thirds of the slots are used.
  std::size_t place_of(std::uint64_t key) const {
    std::size_t place = static_cast<std::size_t>(key * 0x9E3779B97F4A7C15ULL >> shift_);
    while (slots_[place].key != key && slots_[place].key != kUnused) place = (place + 1) & (slots_.size() - 1);
    return place;
  }

  std::vector<Slot> slots_;
  std::vector<std::size_t> places_;  // the slot of each link
  int shift_ = 0;
};

}  // namespace forestcoll::verify
