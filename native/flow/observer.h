// Watches and stops long computations: the core reports, and the observer may throw to end it.
#pragma once

#include <cstdint>

namespace forestcoll {

class Observer {
 public:
  virtual ~Observer() = default;

  // Called from time to time with the amount of work that is done.
  void advance(std::int64_t done, std::int64_t total) {
    done_ = done;
    total_ = total;
    report(done_, total_);
  }

  // Called from inner loops; cheap.
  void pulse() {
    if ((++pulses_ & 0xff) == 0) report(done_, total_);
  }

 protected:
  virtual void report(std::int64_t done, std::int64_t total) = 0;

 private:
  std::int64_t done_ = 0, total_ = 0;
  std::uint64_t pulses_ = 0;
};

}  // namespace forestcoll
