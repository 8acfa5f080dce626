// Sets of ranks by number; equal sets have one number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace forestcoll::interpret {

class RankSets {
 public:
  using Number = std::int32_t;
  static constexpr Number kNothing = 0;
  static constexpr Number kOverlap = -1;

  // Set 0 is empty, set 1 + r is {r}, and set ranks + 1 has all ranks, of which there are 2 or more.
  explicit RankSets(std::size_t ranks) : width_((ranks + 63) / 64) {
    std::vector<std::uint64_t> bits(width_);
    add(bits);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::uint64_t> single(width_);
      single[rank / 64] = std::uint64_t{1} << rank % 64;
      bits[rank / 64] |= single[rank / 64];
      add(single);
    }
    add(bits);
  }

  bool contains(Number set, std::size_t rank) const { return (row(set)[rank / 64] >> rank % 64 & 1) != 0; }

  // The number of the union of two sets, or `kOverlap` if they have a common rank.
  Number sum(Number one, Number other) {
    std::vector<std::uint64_t> bits(width_);
    for (std::size_t word = 0; word < width_; ++word) {
      if ((row(one)[word] & row(other)[word]) != 0) return kOverlap;
      bits[word] = row(one)[word] | row(other)[word];
    }
    return number_of(bits);
  }

 private:
  Number number_of(std::span<const std::uint64_t> bits) {
    const auto [first, last] = numbers_.equal_range(hash(bits));
    for (auto each = first; each != last; ++each) {
      if (std::equal(bits.begin(), bits.end(), row(each->second))) return each->second;
    }
    return add(bits);
  }

  Number add(std::span<const std::uint64_t> bits) {
    const Number number = static_cast<Number>(count_++);
    rows_.insert(rows_.end(), bits.begin(), bits.end());
    numbers_.emplace(hash(bits), number);
    return number;
  }

  const std::uint64_t* row(Number set) const { return rows_.data() + static_cast<std::size_t>(set) * width_; }

  static std::uint64_t hash(std::span<const std::uint64_t> bits) {
    std::uint64_t value = 0;
    for (const std::uint64_t word : bits) value = (std::rotl(value, 5) ^ word) * 0x9E3779B97F4A7C15ULL;
    return value;
  }

  std::size_t width_;
  std::size_t count_ = 0;
  std::vector<std::uint64_t> rows_;
  std::unordered_multimap<std::uint64_t, Number> numbers_;
};

}  // namespace forestcoll::interpret
