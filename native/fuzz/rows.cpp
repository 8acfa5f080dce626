// Fuzzes the reading and writing of rows: text that is read, written and read again gives the same rows.
#include "schedule/rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/rows_text.h"

namespace {

using namespace forestcoll::schedule;

std::span<const Entry> entries_of(const ScannedRows& found) { return {found.entries.get(), found.size}; }

std::vector<std::int64_t> starts_of(const ScannedRows& found) {
  std::vector<std::int64_t> starts{0};
  for (std::size_t row = 0; row < found.rows; ++row) starts.push_back(starts.back() + found.lengths[row]);
  return starts;
}

void check(const ScannedRows& found) {
  const std::vector<std::int64_t> starts = starts_of(found);
  const Rows rows(Starts{starts}, entries_of(found));
  std::vector<char> text(most_text(rows, 0, rows.size()));
  const char* const end = write_rows(rows, 0, rows.size(), text.data());
  const auto again = scan_rows(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())), text.size());
  if (!again || starts_of(*again) != starts || !std::ranges::equal(entries_of(*again), entries_of(found))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto found = scan_rows(text, size + 1);
  const auto in_parts = scan_rows(text, 8);
  if (found.has_value() != in_parts.has_value()) std::abort();
  if (!found) return 0;
  check(*found);
  if (starts_of(*in_parts) != starts_of(*found)) std::abort();
  if (!std::ranges::equal(entries_of(*in_parts), entries_of(*found))) std::abort();
  return 0;
}
