// Which rank is at fault where an operation has made no progress for as long as the group allows.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/lanes.h"
#include "runtime/operation.h"

namespace forestcoll::runtime {

struct Silence {
  const Operation& operation;
  const std::vector<int>& peers;  // that it waits for
  const Lanes& lanes;
  int rank;
  double limit;                         // seconds
  std::chrono::duration<double> quiet;  // since there was progress
  std::chrono::steady_clock::time_point now;
};

// Throws the fault. A rank whose neighbours answer and take part, or wait in an earlier operation themselves, waits a
// little longer: one that can name the culprit will report it.
inline void blame(const Silence& silence) {
  const Operation& operation = silence.operation;
  const std::chrono::duration<double> patience(std::clamp(silence.limit / 3, 0.15, 1.0));
  std::array<char, 32> limit;
  std::snprintf(limit.data(), limit.size(), "%g", silence.limit);
  const std::string begin = operation.label() + ": no progress for " + limit.data() + " s; ";
  for (const int peer : silence.peers) {
    if (silence.now - silence.lanes.controls.at(peer)->last_pong > patience)
      throw Fault{peer, begin + rank_text(peer) + " does not answer"};
  }
  const bool is_patient = silence.quiet.count() < silence.limit + 0.5;
  for (const int peer : silence.peers) {
    const ControlLane& lane = *silence.lanes.controls.at(peer);
    const bool waits_itself = lane.oldest < operation.number();
    if (lane.posted <= operation.number() && !(waits_itself && is_patient))
      throw Fault{peer, begin + rank_text(peer) + " has not called it"};
  }
  if (silence.peers.empty()) throw Fault{silence.rank, begin + rank_text(silence.rank) + " waits for no other rank"};
  if (is_patient) return;
  throw Fault{silence.peers.front(), begin + rank_text(silence.peers.front()) + " answers but sends nothing"};
}

}  // namespace forestcoll::runtime
