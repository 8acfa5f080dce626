// Rows of integers as JSON text, written and read, as `schedule/rows_text.py` describes it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/rows.h"

namespace forestcoll::schedule {

inline constexpr std::size_t kMostWritten = 12;  // bytes of an entry: a sign, ten digits and a comma
inline constexpr int kMostDigits = 9;            // of an integer that is read; every such integer fits in 32 bits

// The digits of all integers below 10,000, with leading zeros.
class FourDigits {
 public:
  FourDigits() {
    for (std::size_t value = 0; value < 10000; ++value) {
      texts_[value] = {digit(value / 1000), digit(value / 100), digit(value / 10), digit(value)};
    }
  }

  // Writes all four digits, or those after the leading zeros, and returns the end.
  char* write_all(char* out, std::uint32_t value) const {
    std::memcpy(out, texts_[value].data(), 4);
    return out + 4;
  }
  char* write_short(char* out, std::uint32_t value) const {
    const std::size_t zeros = value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
    std::memcpy(out, texts_[value].data() + zeros, 4 - zeros);
    return out + (4 - zeros);
  }

 private:
  static char digit(std::size_t value) { return static_cast<char>('0' + value % 10); }

  std::array<std::array<char, 4>, 10000> texts_;
};

inline char* write_number(char* out, std::uint32_t value, const FourDigits& digits) {
  if (value < 10000) return digits.write_short(out, value);
  return digits.write_all(write_number(out, value / 10000, digits), value % 10000);
}

// Writes the entries of a row in brackets, and returns the end.
inline char* write_row(char* out, std::span<const Entry> row, const FourDigits& digits) {
  *out++ = '[';
  for (const Entry entry : row) {
    const auto value = static_cast<std::uint32_t>(entry);
    if (entry < 0) *out++ = '-';
    out = write_number(out, entry < 0 ? 0U - value : value, digits);
    *out++ = ',';
  }
  if (!row.empty()) --out;
  *out++ = ']';
  return out;
}

// The most bytes that `write_rows` writes.
inline std::size_t most_text(const Rows& rows, std::size_t first, std::size_t stop) {
  std::size_t most = 0;
  for (std::size_t row = first; row < stop; ++row) most += rows[row].size() * kMostWritten + 3;
  return most;
}

// Writes the rows from `first` to `stop` - 1 as `[0,16,1],[0,17,8]`, and returns the end.
inline char* write_rows(const Rows& rows, std::size_t first, std::size_t stop, char* out) {
  static const FourDigits digits;
  for (std::size_t row = first; row < stop; ++row) {
    if (row > first) *out++ = ',';
    out = write_row(out, rows[row], digits);
  }
  return out;
}

struct ScannedRows {
  std::vector<std::int32_t> lengths;
  std::vector<Entry> entries;
};

// Reads rows of integers from text, if it is as it is usually written.
class RowScanner {
 public:
  explicit RowScanner(std::string_view text) : place_(text.data()), end_(text.data() + text.size()) {
    found_.entries.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1);
    found_.lengths.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), ']')));
  }

  // The rows in text such as `[0, 16, 1], [0, 17]`, each with one entry or more, or nothing if the text is unusual.
  std::optional<ScannedRows> rows() {
    do {
      if (!row()) return std::nullopt;
    } while (takes(','));
    skip_white();
    if (place_ != end_) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool row() {
    if (!takes('[')) return false;
    const std::size_t before = found_.entries.size();
    do {
      if (!entry()) return false;
    } while (takes(','));
    found_.lengths.push_back(static_cast<std::int32_t>(found_.entries.size() - before));
    return takes(']');
  }

  // JSON allows no leading zero.
  bool entry() {
    skip_white();
    const char* const first = place_;
    Entry value = 0;
    while (place_ != end_ && is_digit(*place_) && place_ - first <= kMostDigits) value = digit_after(value);
    const auto digits = place_ - first;
    if (digits == 0 || digits > kMostDigits || (digits > 1 && *first == '0')) return false;
    found_.entries.push_back(value);
    return true;
  }

  // A tenth digit, which makes the text unusual, may not overflow.
  Entry digit_after(Entry value) {
    return static_cast<Entry>(10U * static_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(*place_++ - '0'));
  }

  bool takes(char sign) {
    skip_white();
    if (place_ == end_ || *place_ != sign) return false;
    ++place_;
    return true;
  }

  void skip_white() {
    while (place_ != end_ && (*place_ == ' ' || *place_ == '\n' || *place_ == '\t' || *place_ == '\r')) ++place_;
  }

  static bool is_digit(char sign) { return sign >= '0' && sign <= '9'; }

  const char* place_;
  const char* end_;
  ScannedRows found_;
};

}  // namespace forestcoll::schedule
