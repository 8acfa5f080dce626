// Bits with numbers from 0 on, packed into words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forestcoll {

class Bits {
 public:
  // Makes room for the numbers below `count`; new bits are 0.
  void resize(std::size_t count) { words_.resize((count + 63) / 64); }
  bool operator[](std::int32_t number) const { return ((words_[word(number)] >> place(number)) & 1) != 0; }
  void set(std::int32_t number) { words_[word(number)] |= std::uint64_t{1} << place(number); }
  void clear(std::int32_t number) { words_[word(number)] &= ~(std::uint64_t{1} << place(number)); }

 private:
  static std::size_t word(std::int32_t number) { return static_cast<std::uint32_t>(number) / 64; }
  static std::uint32_t place(std::int32_t number) { return static_cast<std::uint32_t>(number) % 64; }

  std::vector<std::uint64_t> words_;
};

}  // namespace forestcoll
