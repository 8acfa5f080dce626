// Rows of integers as JSON text, written and read, as `schedule/rows_text.py` describes it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
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
template <class Number>
char* write_row(char* out, std::span<const Number> row, const FourDigits& digits) {
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
    out = rows[row].visit([&](auto entries) { return write_row(out, entries, digits); });
  }
  return out;
}

// How often the sign occurs. Compilers count each block in bytes, sixteen or more signs at a time.
inline std::size_t count_of(std::string_view text, char sign) {
  constexpr std::size_t kBlock = 128;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < text.size(); begin += kBlock) {
    const std::size_t end = std::min(text.size(), begin + kBlock);
    std::uint8_t in_block = 0;
    for (std::size_t place = begin; place < end; ++place) in_block += text[place] == sign;
    count += in_block;
  }
  return count;
}

// Arrays without initial values, because each value is written once.
struct ScannedRows {
  std::unique_ptr<std::int32_t[]> lengths;
  std::unique_ptr<Entry[]> entries;
  std::size_t rows, size;  // how many lengths and entries there are
};

// Reads rows of integers from text such as `[0, 16, 1], [0, 17]`, each with one entry or more.
class RowScanner {
 public:
  explicit RowScanner(std::string_view text)
      : place_(text.data()), end_(text.data() + text.size()), rows_(count_of(text, ']')),
        size_(count_of(text, ',') + 1) {}

  // Neither array of this size is too short: there is a comma between any two entries, and a bracket after each row.
  std::size_t most_rows() const { return rows_; }
  std::size_t most_entries() const { return size_; }

  // Returns false if the text is unusual; otherwise both arrays are full.
  bool read(std::int32_t* length, Entry* entry) {
    do {
      Entry* const next = row(entry);
      if (next == nullptr) return false;
      *length++ = static_cast<std::int32_t>(next - entry);
      entry = next;
    } while (takes(','));
    skip_white();
    return place_ == end_;
  }

 private:
  // Reads a row to `out`, and returns the end of its entries, or null if the text is unusual.
  Entry* row(Entry* out) {
    if (!takes('[')) return nullptr;
    do {
      skip_white();
      if (!short_entry(*out) && !entry(*out)) return nullptr;
      ++out;
    } while (takes(','));
    return takes(']') ? out : nullptr;
  }

  // Reads an integer of at most seven digits without a branch for each of them, if eight bytes of text are left.
  bool short_entry(Entry& out) {
    if (std::endian::native != std::endian::little || end_ - place_ < 8) return false;
    std::uint64_t digits;
    std::memcpy(&digits, place_, 8);
    digits ^= 0x3030303030303030U;  // now a byte is below ten if it was a digit
    const std::uint64_t others = ((digits + 0x7676767676767676U) | digits) & 0x8080808080808080U;
    const int count = std::countr_zero(others) / 8;  // of digits before the first other sign; sums carry only after it
    if (count == 0 || count == 8 || (count > 1 && *place_ == '0')) return false;
    digits <<= 64 - 8 * count;  // zeros, and then the digits
    digits = (digits * 2561) >> 8 & 0x00FF00FF00FF00FFU;
    digits = (digits * 6553601) >> 16 & 0x0000FFFF0000FFFFU;
    out = static_cast<Entry>((digits * 42949672960001U) >> 32);
    place_ += count;
    return true;
  }

  // JSON allows no leading zero.
  bool entry(Entry& out) {
    const char* const first = place_;
    out = 0;
    while (place_ != end_ && is_digit(*place_) && place_ - first <= kMostDigits) out = digit_after(out);
    const auto digits = place_ - first;
    return digits > 0 && digits <= kMostDigits && (digits == 1 || *first != '0');
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
    while (place_ != end_ && *place_ <= ' ' && is_white(*place_)) ++place_;
  }

  static bool is_white(char sign) { return sign == ' ' || sign == '\n' || sign == '\t' || sign == '\r'; }
  static bool is_digit(char sign) { return sign >= '0' && sign <= '9'; }

  const char* place_;
  const char* end_;
  std::size_t rows_, size_;
};

// Divides text after about equally many bytes into parts of whole rows, if it is usual; at most `most` parts.
inline std::vector<std::string_view> parts_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> parts;
  for (; most > 1; --most) {
    const std::size_t end = text.find(']', text.size() / most);
    const std::size_t comma = end == text.npos ? end : text.find(',', end);
    if (comma == text.npos) break;
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  parts.push_back(text);
  return parts;
}

// Calls a function with each number below `count`, in parallel.
template <class Function>
void in_parallel(std::size_t count, Function function) {
  std::vector<std::future<void>> others;  // a future waits for its thread; if none can start, `get` does the work
  for (std::size_t number = 1; number < count; ++number) others.push_back(std::async(function, number));
  function(0);
  for (auto& each : others) each.get();
}

// The rows in text such as `[0, 16, 1], [0, 17]`, each with one entry or more, or nothing if the text is unusual. The
// text is read in parts of `least` bytes or more, at most one for each processor.
inline std::optional<ScannedRows> scan_rows(std::string_view text, std::size_t least) {
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  const std::vector<std::string_view> parts = parts_of(text, std::min(threads, text.size() / least));
  std::vector<std::optional<RowScanner>> scanners(parts.size());
  in_parallel(parts.size(), [&](std::size_t part) { scanners[part].emplace(parts[part]); });
  std::vector<std::size_t> first_rows{0}, first_entries{0};
  for (const auto& each : scanners) {
    first_rows.push_back(first_rows.back() + each->most_rows());
    first_entries.push_back(first_entries.back() + each->most_entries());
  }
  auto lengths = std::make_unique_for_overwrite<std::int32_t[]>(first_rows.back());
  auto entries = std::make_unique_for_overwrite<Entry[]>(first_entries.back());
  std::vector<char> is_usual(parts.size());
  in_parallel(parts.size(), [&](std::size_t part) {
    is_usual[part] = scanners[part]->read(lengths.get() + first_rows[part], entries.get() + first_entries[part]);
  });
  if (!std::ranges::all_of(is_usual, [](char each) { return each != 0; })) return std::nullopt;
  return ScannedRows{std::move(lengths), std::move(entries), first_rows.back(), first_entries.back()};
}

}  // namespace forestcoll::schedule
