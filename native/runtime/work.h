// The state of an operation that a caller can wait for; shared by the caller's thread and the progress thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/forking.h"

namespace forestcoll::runtime {

class Work {
 public:
  explicit Work(std::uint64_t number) : number_(number) {}

  std::uint64_t number() const { return number_; }

  bool is_done() const {
    if (home_.is_elsewhere()) return true;
    const std::lock_guard lock(mutex_);
    return done_;
  }

  // The message of the failure, empty if there was none so far.
  std::string error() const {
    if (home_.is_elsewhere()) return kForked;
    const std::lock_guard lock(mutex_);
    return error_;
  }

  // Ends the operation; `error` is empty where it succeeded.
  void finish(std::string error) {
    if (home_.is_elsewhere()) return;
    const std::lock_guard lock(mutex_);
    if (done_) return;
    error_ = std::move(error);
    done_ = true;
  }

 private:
  const std::uint64_t number_;
  const Home home_;
  mutable std::mutex mutex_;
  bool done_ = false;
  std::string error_;
};

}  // namespace forestcoll::runtime
