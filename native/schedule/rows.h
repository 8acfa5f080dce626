// Rows of integers of different lengths in two flat arrays that belong to Python, as in `schedule/rows.py`.
//
// A schedule of thousands of nodes has so many entries that the starts of rows may need 64 bits; usually 32 are enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace forestcoll::schedule {

using Entry = std::int32_t;

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

class Rows {
 public:
  // Throws unless the starts ascend from 0 to the number of entries, so that every row lies within `entries`.
  Rows(Starts starts, std::span<const Entry> entries) : starts_(starts), entries_(entries) {
    bool fits = starts.size() > 0 && starts[0] == 0 && starts[starts.size() - 1] == entries.size();
    for (std::size_t row = 0; fits && row + 1 < starts.size(); ++row) fits = starts[row] <= starts[row + 1];
    if (!fits) throw std::invalid_argument("the starts of rows must ascend from 0 to the number of entries");
  }

  std::size_t size() const { return starts_.size() - 1; }
  std::span<const Entry> all_entries() const { return entries_; }
  std::span<const Entry> operator[](std::size_t row) const {
    return entries_.subspan(starts_[row], starts_[row + 1] - starts_[row]);
  }

 private:
  Starts starts_;
  std::span<const Entry> entries_;
};

}  // namespace forestcoll::schedule
