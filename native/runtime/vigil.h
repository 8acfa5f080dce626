// Looks for data again and again before it sleeps: to be woken takes longer than to move little data.
//
// That pays while each rank has a core. Where others need the core, what is awaited does not come, and nobody looks for
// it but now and then.
#pragma once

#include <algorithm>
#include <chrono>

namespace forestcoll::runtime {

class Vigil {
 public:
  void allow() { is_allowed_ = true; }

  // Calls `look`, which waits so many milliseconds at most, and returns what it found.
  template <class Look>
  int wait(Look look, int milliseconds) {
    if (const int found = watch(look); found != 0) return found;
    return look(milliseconds);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLongest = std::chrono::microseconds(100);
  static constexpr int kMostSkipped = 255;

  template <class Look>
  int watch(Look look) {
    if (!is_allowed_) return 0;
    if (left_ > 0) {
      --left_;
      return 0;
    }
    for (const auto end = Clock::now() + kLongest; Clock::now() < end;) {
      if (const int found = look(0); found != 0) {
        skipped_ = 0;
        return found;
      }
    }
    left_ = skipped_ = std::min(2 * skipped_ + 1, kMostSkipped);
    return 0;
  }

  bool is_allowed_ = false;
  int skipped_ = 0, left_ = 0;  // waits without a look, after one in vain
};

}  // namespace forestcoll::runtime
