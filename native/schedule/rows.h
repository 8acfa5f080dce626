// Rows of integers of different lengths in two flat arrays that belong to Python, as in `schedule/rows.py`.
//
// A schedule of thousands of nodes has so many entries that the starts of rows may need 64 bits; usually 32 are enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <stdexcept>

namespace forestcoll::schedule {

using Entry = std::int32_t;
using ShortEntry = std::int16_t;

class Starts {
 public:
  explicit Starts(std::span<const std::int32_t> starts) : short_(starts.data()), size_(starts.size()) {}
  explicit Starts(std::span<const std::int64_t> starts) : long_(starts.data()), size_(starts.size()) {}

  std::size_t size() const { return size_; }
  std::size_t operator[](std::size_t row) const {
    return static_cast<std::size_t>(short_ != nullptr ? short_[row] : long_[row]);
  }

 private:
  const std::int32_t* short_ = nullptr;
  const std::int64_t* long_ = nullptr;
  std::size_t size_;
};

// Entries of one row or of several, in 32 or in 16 bits. The routes of thousands of trees take most of the memory.
class Entries {
 public:
  Entries(std::span<const Entry> entries) : long_(entries.data()), size_(entries.size()) {}
  Entries(std::span<const ShortEntry> entries) : short_(entries.data()), size_(entries.size()) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Entry operator[](std::size_t place) const { return short_ != nullptr ? short_[place] : long_[place]; }
  Entry front() const { return (*this)[0]; }
  Entry back() const { return (*this)[size_ - 1]; }
  Entries subspan(std::size_t begin, std::size_t size) const {
    if (short_ != nullptr) return std::span<const ShortEntry>(short_ + begin, size);
    return std::span<const Entry>(long_ + begin, size);
  }

  // The entries one after the other, for a loop.
  auto all() const {
    return std::views::iota(std::size_t{0}, size_) |
           std::views::transform([entries = *this](std::size_t place) { return entries[place]; });
  }

  // Calls `use(span)` with the entries in their type, so that a loop over them asks for the type once.
  template <class Use>
  auto visit(Use use) const {
    return short_ != nullptr ? use(std::span<const ShortEntry>(short_, size_))
                             : use(std::span<const Entry>(long_, size_));
  }

 private:
  const Entry* long_ = nullptr;
  const ShortEntry* short_ = nullptr;
  std::size_t size_;
};

class Rows {
 public:
  // Throws unless the starts ascend from 0 to the number of entries, so that every row lies within `entries`.
  Rows(Starts starts, Entries entries) : starts_(starts), entries_(entries) {
    bool fits = starts.size() > 0 && starts[0] == 0 && starts[starts.size() - 1] == entries.size();
    for (std::size_t row = 0; fits && row + 1 < starts.size(); ++row) fits = starts[row] <= starts[row + 1];
    if (!fits) throw std::invalid_argument("the starts of rows must ascend from 0 to the number of entries");
  }

  std::size_t size() const { return starts_.size() - 1; }
  Entries all_entries() const { return entries_; }
  Entries operator[](std::size_t row) const { return entries_.subspan(starts_[row], starts_[row + 1] - starts_[row]); }

 private:
  Starts starts_;
  Entries entries_;
};

}  // namespace forestcoll::schedule
