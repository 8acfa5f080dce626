// What callers hand over to the progress thread, and how they wake it.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/operation.h"

namespace forestcoll::runtime {

class Inbox {
 public:
  Inbox() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (bell_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~Inbox() { shut(); }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  int bell() const { return bell_; }

  // After the last operation was refused.
  void shut() {
    const std::lock_guard lock(mutex_);
    if (bell_ >= 0) ::close(bell_);
    bell_ = -1;
  }

  // Gives the operation its number. It fails at once if the group has failed or is closing. Whoever posts rings, or
  // takes the operation.
  std::shared_ptr<Work> post(Request request) {
    const std::lock_guard lock(mutex_);
    auto work = std::make_shared<Work>(posted_);
    if (!failure_.empty()) {
      work->finish(failure_);
      return work;
    }
    waiting_.push_back(std::make_unique<Operation>(posted_, std::move(request), work));
    ++posted_;
    return work;
  }

  void ring() const {
    const std::lock_guard lock(mutex_);
    ring_bell();
  }

  void silence() const {
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t moved = ::read(bell_, &rings, sizeof rings);
  }

  // Returns the next operation, or null. What is not taken stays, and fails with the group.
  std::unique_ptr<Operation> take() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return nullptr;
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }

  // From here on every operation fails with this message. Returns those that were not taken yet.
  std::deque<std::unique_ptr<Operation>> refuse(const std::string& failure) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = failure;
    return std::exchange(waiting_, {});
  }

  // Adds to the message.
  void amend(const std::string& failure) {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
  }

  void request_close() {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    ring_bell();
  }

  bool is_closing() const {
    const std::lock_guard lock(mutex_);
    return closing_;
  }

 private:
  void ring_bell() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t moved = ::write(bell_, &one, sizeof one);
  }

  int bell_;
  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Operation>> waiting_;
  std::uint64_t posted_ = 0;
  std::string failure_;
  bool closing_ = false;
};

}  // namespace forestcoll::runtime
