// The state of a group that failed, as a JSON file.
#pragma once

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/connection.h"
#include "runtime/journal.h"

namespace forestcoll::runtime {

struct PeerState {
  int rank = 0;
  bool is_lost = false;
  bool has_answered = false;   // to a ping
  std::uint64_t posted = 0;    // operations, when it last answered
  double answered_before = 0;  // seconds
};

struct Dump {
  std::string group;
  int rank = 0;
  double timeout_seconds = 0;
  Fault fault;
  std::vector<JournalEntry> operations;
  std::vector<PeerState> peers;
};

namespace dumping {

using SystemClock = std::chrono::system_clock;

inline std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') result += '\\';
    if (code >= 0x20) {
      result += each;
      continue;
    }
    std::array<char, 8> escape;
    std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
    result += escape.data();
  }
  return result + '"';
}

inline std::string number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6f", value);
  return text.data();
}

inline double seconds(SystemClock::duration time) { return std::chrono::duration<double>(time).count(); }

template <class Items, class Write>
std::string list(const Items& items, Write write, std::string_view separator = ", ") {
  std::string result = "[";
  for (const auto& item : items) {
    if (result.size() > 1) result += separator;
    result += write(item);
  }
  return result + "]";
}

inline std::string operation(const JournalEntry& entry, SystemClock::time_point now) {
  const auto end = entry.state == "running" ? now : entry.end;
  const auto waiting = [](const Awaited& each) {
    return "{\"rank\": " + std::to_string(each.rank) + ", \"to\": " + (each.is_incoming ? "\"send\"}" : "\"receive\"}");
  };
  return "{\"number\": " + std::to_string(entry.number) + ", \"label\": " + json_string(entry.descriptor.text()) +
         ", \"collective\": " + json_string(entry.collective) + ", \"dtype\": " + json_string(name_of(entry.type)) +
         ", \"bytes\": " + std::to_string(static_cast<std::uint64_t>(entry.count) * size_of(entry.type)) +
         ", \"state\": " + json_string(entry.state) +
         ", \"began\": " + number(seconds(entry.begin.time_since_epoch())) +
         ", \"seconds\": " + number(seconds(end - entry.begin)) +
         ", \"chunks_left\": " + std::to_string(entry.chunks_left) +
         ", \"waits_for\": " + list(entry.waits_for, waiting) + "}";
}

inline std::string peer(const PeerState& state) {
  const std::string unknown = "null";
  return "{\"rank\": " + std::to_string(state.rank) + ", \"connected\": " + (state.is_lost ? "false" : "true") +
         ", \"operations_called\": " + (state.has_answered ? std::to_string(state.posted) : unknown) +
         ", \"answered_seconds_ago\": " + (state.has_answered ? number(state.answered_before) : unknown) + "}";
}

}  // namespace dumping

inline std::string text_of(const Dump& dump) {
  const auto now = dumping::SystemClock::now();
  const auto operation = [now](const JournalEntry& entry) { return dumping::operation(entry, now); };
  return "{\"format\": \"forestcoll.dump/1\", \"group\": " + dumping::json_string(dump.group) +
         ", \"rank\": " + std::to_string(dump.rank) + ", \"process\": " + std::to_string(getpid()) +
         ", \"time\": " + dumping::number(dumping::seconds(now.time_since_epoch())) +
         ", \"timeout_seconds\": " + dumping::number(dump.timeout_seconds) +
         ",\n\"fault\": {\"rank\": " + std::to_string(dump.fault.culprit) +
         ", \"text\": " + dumping::json_string(dump.fault.text) +
         "},\n\"peers\": " + dumping::list(dump.peers, dumping::peer, ",\n") +
         ",\n\"operations\": " + dumping::list(dump.operations, operation, ",\n") + "}\n";
}

// Writes the whole file or none. Returns whether it is there.
inline bool write_dump(const std::string& path, const Dump& dump) {
  const std::string unfinished = path + ".tmp";
  {
    std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
    file << text_of(dump);
    file.close();
    if (!file) return false;
  }
  return std::rename(unfinished.c_str(), path.c_str()) == 0;
}

}  // namespace forestcoll::runtime
