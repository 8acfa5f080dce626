// Sequences of integers, each stored once and identified by its number: one flat array, and a hash table of numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace forestcoll {

class SequenceTable {
 public:
  using Number = std::int32_t;

  // The number of `sequence`, which is added if it is new. `sequence` may be a part of this table.
  Number add(std::span<const std::int32_t> sequence) {
    if (2 * (starts_.size() + 1) > slots_.size()) grow();
    std::size_t slot = hash(sequence) & (slots_.size() - 1);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (std::ranges::equal((*this)[slots_[slot]], sequence)) return slots_[slot];
    }
    slots_[slot] = size();
    const std::vector<std::int32_t> copy(sequence.begin(), sequence.end());
    entries_.insert(entries_.end(), copy.begin(), copy.end());
    starts_.push_back(entries_.size());
    return slots_[slot];
  }

  std::span<const std::int32_t> operator[](Number number) const {
    const auto place = static_cast<std::size_t>(number);
    return {entries_.data() + starts_[place], starts_[place + 1] - starts_[place]};
  }

  Number size() const { return static_cast<Number>(starts_.size() - 1); }

 private:
  static std::size_t hash(std::span<const std::int32_t> sequence) {
    std::uint64_t mixed = 0x9e3779b97f4a7c15u;
    for (const std::int32_t each : sequence) {
      mixed = (mixed ^ static_cast<std::uint32_t>(each)) * 0xff51afd7ed558ccdu;
      mixed ^= mixed >> 32;
    }
    return static_cast<std::size_t>(mixed);
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), -1);
    for (Number number = 0; number < size(); ++number) {
      std::size_t slot = hash((*this)[number]) & (slots_.size() - 1);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = number;
    }
  }

  std::vector<std::int32_t> entries_;
  std::vector<std::size_t> starts_{0};
  std::vector<Number> slots_;
};

}  // namespace forestcoll
