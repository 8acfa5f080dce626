// The random numbers of Python's `random.Random`: a Mersenne twister (Matsumoto and Nishimura, 1998), mt19937ar.c.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace forestcoll {

class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed) {
    state_[0] = 19650218;
    for (std::uint32_t place = 1; place < size; ++place) state_[place] = 1812433253U * mixed(place - 1) + place;
    // The key is the seed alone, so its place is always 0.
    std::size_t place = 1;
    for (std::size_t round = 0; round < size; ++round) {
      state_[place] = (state_[place] ^ (mixed(place - 1) * 1664525U)) + seed;
      place = following(place);
    }
    for (std::size_t round = 1; round < size; ++round) {
      state_[place] = (state_[place] ^ (mixed(place - 1) * 1566083941U)) - static_cast<std::uint32_t>(place);
      place = following(place);
    }
    state_[0] = 0x80000000U;
  }

  // A number below `limit`, which is at least 1: as `Random._randbelow`.
  std::size_t below(std::size_t limit) {
    int bits = 0;
    while (limit >> bits != 0) ++bits;
    std::size_t number = limit;
    while (number >= limit) number = next() >> (32 - bits);
    return number;
  }

  // As `Random.shuffle`.
  template <class Value>
  void shuffle(std::vector<Value>& values) {
    for (std::size_t place = values.size(); place-- > 1;) std::swap(values[place], values[below(place + 1)]);
  }

 private:
  static constexpr std::size_t size = 624, shift = 397;

  std::uint32_t mixed(std::size_t place) const { return state_[place] ^ (state_[place] >> 30); }

  std::size_t following(std::size_t place) {
    if (++place < size) return place;
    state_[0] = state_[size - 1];
    return 1;
  }

  std::uint32_t next() {
    if (used_ == size) twist();
    std::uint32_t word = state_[used_++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680U;
    word ^= (word << 15) & 0xefc60000U;
    return word ^ (word >> 18);
  }

  void twist() {
    for (std::size_t place = 0; place < size; ++place) {
      const std::uint32_t word = (state_[place] & 0x80000000U) | (state_[(place + 1) % size] & 0x7fffffffU);
      state_[place] = state_[(place + shift) % size] ^ (word >> 1) ^ ((word & 1) != 0 ? 0x9908b0dfU : 0);
    }
    used_ = 0;
  }

  std::array<std::uint32_t, size> state_{};
  std::size_t used_ = size;
};

}  // namespace forestcoll
