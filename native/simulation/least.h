// Numbers that change one at a time, and the least of them: the least of each run of numbers is kept until one changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace forestcoll {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

class Least {
 public:
  std::size_t size() const { return numbers_.size(); }

  double operator[](std::size_t place) const { return numbers_[place]; }

  void push_back(double number) {
    if (size() % kRun == 0) {
      leasts_.push_back(kNever);
      is_stale_.push_back(false);
    }
    numbers_.push_back(number);
    is_stale_.back() = true;
  }

  void pop_back() {
    numbers_.pop_back();
    is_stale_.back() = true;
    if (size() % kRun > 0) return;
    leasts_.pop_back();
    is_stale_.pop_back();
  }

  void set(std::size_t place, double number) {
    numbers_[place] = number;
    is_stale_[place / kRun] = true;
  }

  // Returns the least number, `kNever` if there is none.
  double least() {
    double least = kNever;
    for (std::size_t run = 0; run < leasts_.size(); ++run) least = std::min(least, least_of(run));
    return least;
  }

  // Returns the first place from `place` on whose number is at most `most`, the size if there is none.
  std::size_t find(std::size_t place, double most) {
    while (place < size()) {
      if (place % kRun == 0 && least_of(place / kRun) > most) {
        place += kRun;
      } else if (numbers_[place] <= most) {
        return place;
      } else {
        ++place;
      }
    }
    return size();
  }

 private:
  static constexpr std::size_t kRun = 64;

  double least_of(std::size_t run) {
    if (is_stale_[run]) {
      double leasts[4] = {kNever, kNever, kNever, kNever};  // four chains of comparisons run at the same time
      const std::size_t end = std::min(size(), (run + 1) * kRun);
      for (std::size_t place = run * kRun; place < end; ++place) {
        leasts[place % 4] = std::min(leasts[place % 4], numbers_[place]);
      }
      leasts_[run] = std::ranges::min(leasts);
      is_stale_[run] = false;
    }
    return leasts_[run];
  }

  std::vector<double> numbers_;
  std::vector<double> leasts_;  // for each run of `kRun` numbers, the least one
  std::vector<char> is_stale_;  // for each run, whether it has changed
};

}  // namespace forestcoll
