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
  const auto again = RowScanner(std::string_view(text.data(), static_cast<std::size_t>(end - text.data()))).rows();
  if (!again || starts_of(*again) != starts || !std::ranges::equal(entries_of(*again), entries_of(found))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = RowScanner(std::string_view(reinterpret_cast<const char*>(data), size)).rows();
  if (found) check(*found);
  return 0;
}
