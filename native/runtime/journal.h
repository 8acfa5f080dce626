// The last operations of a group: what they were, and how far they came.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/elements.h"
#include "runtime/frame.h"

namespace forestcoll::runtime {

// Data that is still to come from a rank, or still to go to it.
struct Awaited {
  int rank = 0;
  bool is_incoming = false;
};

struct JournalEntry {
  std::uint64_t number = 0;
  Descriptor descriptor;
  std::string collective;
  ElementType type{};
  std::int64_t count = 0;  // elements of all data
  std::string state;       // "running", "done" or "failed"
  std::chrono::system_clock::time_point begin, end;
  std::uint32_t chunks_left = 0;   // to be received and to be sent, where it failed
  std::vector<Awaited> waits_for;  // where it failed
};

// Written by the progress thread, read by callers. Operations that run stay; of those that ended, the last ones.
class Journal {
 public:
  static constexpr std::size_t kMost = 256;
  using Clock = std::chrono::system_clock;

  void begin(JournalEntry entry) {
    const std::lock_guard lock(mutex_);
    while (entries_.size() >= kMost && entries_.front().state != "running") entries_.pop_front();
    entry.state = "running";
    entry.begin = Clock::now();
    entries_.push_back(std::move(entry));
  }

  void succeed(std::uint64_t number) { end(number, "done", 0, {}); }
  void fail(std::uint64_t number, std::uint32_t chunks_left, std::vector<Awaited> waits_for) {
    end(number, "failed", chunks_left, std::move(waits_for));
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
  void end(std::uint64_t number, const char* state, std::uint32_t chunks_left, std::vector<Awaited> waits_for) {
    const std::lock_guard lock(mutex_);
    JournalEntry& entry = entries_[number - entries_.front().number];
    entry.state = state;
    entry.end = Clock::now();
    entry.chunks_left = chunks_left;
    entry.waits_for = std::move(waits_for);
  }

  mutable std::mutex mutex_;
  std::deque<JournalEntry> entries_;  // their numbers follow each other
};

}  // namespace forestcoll::runtime
