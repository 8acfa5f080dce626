// Lists of numbers, one list for each row of a table, in two arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace forestcoll {

using Index = std::int32_t;

class Rows {
 public:
  Rows() = default;

  // Row i has values[starts[i]] to values[starts[i + 1] - 1].
  Rows(std::vector<Index> starts, std::vector<Index> values) : starts_(std::move(starts)), values_(std::move(values)) {}

  std::span<const Index> operator[](Index row) const {
    return {values_.data() + starts_[row], static_cast<std::size_t>(starts_[row + 1] - starts_[row])};
  }

  Index size() const { return static_cast<Index>(starts_.size()) - 1; }

  // Throws unless there are `rows` rows, each with a multiple of `width` values, and column c of the values is at
  // least 0 and below limits[c].
  void check(const std::string& name, Index rows, const std::vector<std::int64_t>& limits) const {
    const auto width = static_cast<Index>(limits.size());
    bool good = size() == rows && starts_.front() == 0 && starts_.back() == static_cast<Index>(values_.size());
    for (Index row = 0; good && row < rows; ++row) {
      const std::int64_t length = std::int64_t{starts_[row + 1]} - starts_[row];
      good = length >= 0 && length % width == 0;
    }
    for (std::size_t place = 0; good && place < values_.size(); ++place) {
      good = values_[place] >= 0 && values_[place] < limits[place % limits.size()];
    }
    if (!good) throw std::invalid_argument(name + " is malformed");
  }

 private:
  std::vector<Index> starts_{0}, values_;
};

}  // namespace forestcoll
