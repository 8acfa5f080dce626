// Who moves data: the engine's thread, or a caller that waits. To wake another thread takes longer than the rest of a
// small operation, so the thread stands by as long as callers wait again and again, and one of them works.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace forestcoll::runtime {

// All methods are called with the lock of `state`, which guards what they and the engine share.
class Duty {
 public:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  std::mutex state;

  // Whether a caller waits.
  bool is_wanted() const { return waiting_ > 0; }

  // Whether nobody works until a caller waits, or a moment is over.
  bool is_free() const { return is_standing_by_ && !is_working_; }

  // The thread leaves the work to callers, until none has worked for a moment, or it is needed.
  void stand_by(Lock& lock) {
    is_standing_by_ = true;
    ended_.notify_all();
    do {
      has_worked_ = false;
      resumed_.wait_for(lock, kMoment, [this] { return is_needed_ && !is_working_; });
    } while (is_working_ || (has_worked_ && !is_needed_));
    is_standing_by_ = is_needed_ = false;
  }

  // The thread does not wait until the moment is over.
  void call_thread() {
    is_needed_ = is_standing_by_;
    resumed_.notify_one();
  }

  // An operation has ended.
  void note_end() { ended_.notify_all(); }

  // Waits until `is_done`, at most until `end`. Where the thread stands by and `may_work`, the caller calls `work`,
  // which releases the lock while it waits for data.
  template <class Done, class MayWork, class Work>
  void wait(Lock& lock, Clock::time_point end, Done is_done, MayWork may_work, Work work) {
    ++waiting_;
    while (!is_done() && Clock::now() < end) {
      if (is_free() && may_work()) {
        is_working_ = has_worked_ = true;
        work();
        is_working_ = false;
      } else {
        if (is_free()) call_thread();
        ended_.wait_until(lock, end);
      }
    }
    if (--waiting_ > 0 && is_free()) ended_.notify_all();  // another caller goes on
  }

 private:
  static constexpr auto kMoment = std::chrono::milliseconds(2);

  std::condition_variable ended_, resumed_;
  int waiting_ = 0;
  bool is_standing_by_ = false;  // the thread
  bool is_working_ = false;      // a caller
  bool has_worked_ = false;      // a caller, in this moment
  bool is_needed_ = false;       // the thread
};

}  // namespace forestcoll::runtime
