// Lets Python stop the core (Ctrl-C) and see its progress.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <utility>

#include "flow/observer.h"

namespace forestcoll {

// Takes the interpreter lock a few times a second to handle signals (Ctrl-C) and to report progress to Python.
class PythonObserver final : public Observer {
 public:
  explicit PythonObserver(nanobind::object progress) : progress_(std::move(progress)) {}

 protected:
  void report(std::int64_t done, std::int64_t total) override {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    nanobind::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (!progress_.is_none()) progress_(done, total);
  }

 private:
  nanobind::object progress_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

}  // namespace forestcoll
