// The last operations of a group: what they were, and how they stand.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/frame.h"

namespace forestcoll::runtime {

struct JournalEntry {
  std::uint64_t number = 0;
  Descriptor descriptor;
  std::string state;           // "running", "done" or "failed"
  std::vector<int> waits_for;  // ranks, where it failed
};

// Written by the progress thread, read by callers.
class Journal {
 public:
  static constexpr std::size_t kMost = 256;

  void begin(std::uint64_t number, const Descriptor& descriptor) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() == kMost) entries_.pop_front();
    entries_.push_back({number, descriptor, "running", {}});
  }

  void end(std::uint64_t number, std::string state, std::vector<int> waits_for) {
    const std::lock_guard lock(mutex_);
    for (JournalEntry& entry : entries_) {
      if (entry.number != number) continue;
      entry.state = std::move(state);
      entry.waits_for = std::move(waits_for);
      return;
    }
  }

  const Descriptor* find(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    if (entries_.empty() || number < entries_.front().number) return nullptr;
    const std::uint64_t place = number - entries_.front().number;
    return place < entries_.size() ? &entries_[place].descriptor : nullptr;
  }

  std::vector<JournalEntry> entries() const {
    const std::lock_guard lock(mutex_);
    return {entries_.begin(), entries_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::deque<JournalEntry> entries_;
};

}  // namespace forestcoll::runtime
