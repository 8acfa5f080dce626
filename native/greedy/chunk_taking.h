// TACOS (MICRO 2024): whenever a path is free, a place takes a chunk that it needs, in random order.
//
// All transfers that end at a moment deliver their chunks. Then the pairs of a chunk and a place without it are visited
// in random order. Each takes, among the free paths from places with the chunk, the one of the highest rate; ties are
// broken at random. A path holds its rate on all its links until the chunk has arrived.
//
// Invariant: `blocked_` counts for each path its links that have less left than its rate, so a path is free at 0, and
// `free_` has it as a bit. Cost: each moment visits all missing pairs once, each transfer the paths over its links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "flow/capacity.h"
#include "flow/observer.h"
#include "greedy/python_random.h"

namespace forestcoll {

// The paths between places: that from `source` to `target` has the number source * places + target.
template <class Capacity>
struct ChunkPaths {
  std::int32_t places;
  std::vector<std::vector<std::int32_t>> links;  // of each path; none if there is no path
  std::vector<Capacity> rates, durations;        // of each path
  std::vector<Capacity> capacities;              // of each link
};

// The transfers in the order of their ends, and the time of the last one.
template <class Capacity>
struct TakenChunks {
  Capacity time = 0;
  std::vector<std::int32_t> chunks, sources, targets;
};

template <class Capacity>
class ChunkTaking {
 public:
  ChunkTaking(const ChunkPaths<Capacity>& paths, std::int32_t chunks, std::uint32_t seed)
      : paths_(paths), places_(index(paths.places)), chunks_(index(chunks)), random_(seed), left_(paths.capacities) {
    check(chunks);
    const std::size_t all = places_ * chunks_;
    words_ = (places_ + 63) / 64;
    holders_.resize(all * words_);
    free_.resize(places_ * words_);
    blocked_.resize(places_ * places_);
    using_.resize(left_.size());
    sources_.resize(places_);
    for (std::size_t source = 0; source < places_; ++source) {
      for (std::size_t target = 0; target < places_; ++target) add_path(source, target);
    }
    for (std::size_t target = 0; target < places_; ++target) {
      std::stable_sort(sources_[target].begin(), sources_[target].end(), [&](std::size_t one, std::size_t other) {
        return paths_.rates[one * places_ + target] > paths_.rates[other * places_ + target];
      });
    }
    for (std::size_t chunk = 0; chunk < all; ++chunk) {
      flip(holders_, chunk, chunk / chunks_);
      for (std::size_t target = 0; target < places_; ++target) {
        if (target != chunk / chunks_) missing_.emplace_back(chunk, target);
      }
    }
  }

  // Some chunks may not arrive: the transfers are then fewer than the pairs.
  TakenChunks<Capacity> run(Observer& observer) {
    assign();
    while (!waiting_.empty()) {
      taken_.time = std::get<0>(waiting_.top());
      while (!waiting_.empty() && std::get<0>(waiting_.top()) == taken_.time) {
        const auto [end, number, chunk, source, target] = waiting_.top();
        waiting_.pop();
        deliver(chunk, source, target);
      }
      assign();
      observer.pulse();
    }
    return std::move(taken_);
  }

 private:
  // The end, the number among the transfers that began, the chunk, the source and the target.
  using Transfer = std::tuple<Capacity, std::size_t, std::size_t, std::size_t, std::size_t>;
  using Words = std::vector<std::uint64_t>;

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  void check(std::int32_t chunks) const {
    if (paths_.places < 1 || chunks < 1) throw std::invalid_argument("places and chunks must be 1 or more");
    const std::size_t pairs = places_ * places_;
    if (paths_.links.size() != pairs || paths_.rates.size() != pairs || paths_.durations.size() != pairs) {
      throw std::invalid_argument("links, rates and durations must have one entry per pair of places");
    }
    for (std::size_t path = 0; path < pairs; ++path) {
      for (const std::int32_t link : paths_.links[path]) {
        if (link < 0 || index(link) >= left_.size()) throw std::invalid_argument("a link number is out of range");
        if (paths_.rates[path] < 1 || paths_.rates[path] > left_[index(link)]) {
          throw std::invalid_argument("the rate of a path must be above 0 and at most that of its links");
        }
        if (paths_.durations[path] < 1) throw std::invalid_argument("a duration must be above 0");
      }
    }
  }

  void add_path(std::size_t source, std::size_t target) {
    const std::size_t path = source * places_ + target;
    if (paths_.links[path].empty()) return;
    for (const std::int32_t link : paths_.links[path]) using_[index(link)].push_back(path);
    sources_[target].push_back(source);
    flip(free_, target, source);
  }

  void flip(Words& table, std::size_t row, std::size_t place) {
    table[row * words_ + place / 64] ^= std::uint64_t{1} << (place % 64);
  }

  // Whether some place with the chunk has a free path to the target.
  bool is_usable(std::size_t chunk, std::size_t target) const {
    for (std::size_t word = 0; word < words_; ++word) {
      if ((holders_[chunk * words_ + word] & free_[target * words_ + word]) != 0) return true;
    }
    return false;
  }

  void deliver(std::size_t chunk, std::size_t source, std::size_t target) {
    flip(holders_, chunk, target);
    taken_.chunks.push_back(static_cast<std::int32_t>(chunk));
    taken_.sources.push_back(static_cast<std::int32_t>(source));
    taken_.targets.push_back(static_cast<std::int32_t>(target));
    const std::size_t path = source * places_ + target;
    for (const std::int32_t link : paths_.links[path]) change(index(link), left_[index(link)] + paths_.rates[path]);
  }

  // Sets what is left of a link, and notes which paths this blocks or frees.
  void change(std::size_t link, Capacity left) {
    const Capacity before = std::exchange(left_[link], left);
    for (const std::size_t path : using_[link]) {
      const bool was_short = before < paths_.rates[path], is_short = left < paths_.rates[path];
      if (was_short == is_short) continue;
      const std::int32_t blocked = blocked_[path] += is_short ? 1 : -1;
      if (blocked == (is_short ? 1 : 0)) flip(free_, path % places_, path / places_);
    }
  }

  void assign() {
    std::vector<std::size_t> able;
    for (std::size_t place = 0; place < missing_.size(); ++place) {
      if (is_usable(missing_[place].first, missing_[place].second)) able.push_back(place);
    }
    random_.shuffle(able);
    for (const std::size_t place : able) {
      auto& [chunk, target] = missing_[place];
      if (!is_usable(chunk, target)) continue;
      start(chunk, best_source(chunk, target), target);
      target = places_;  // taken
    }
    std::erase_if(missing_, [this](const auto& pair) { return pair.second == places_; });
  }

  // One of the usable sources from which a chunk arrives first.
  std::size_t best_source(std::size_t chunk, std::size_t target) {
    std::vector<std::size_t> fastest;
    for (const std::size_t source : sources_[target]) {
      const std::uint64_t both = holders_[chunk * words_ + source / 64] & free_[target * words_ + source / 64];
      if (((both >> (source % 64)) & 1) == 0) continue;
      const auto rate = [&](std::size_t from) { return paths_.rates[from * places_ + target]; };
      if (!fastest.empty() && rate(source) < rate(fastest.front())) break;
      fastest.push_back(source);
    }
    return fastest[random_.below(fastest.size())];
  }

  void start(std::size_t chunk, std::size_t source, std::size_t target) {
    const std::size_t path = source * places_ + target;
    for (const std::int32_t link : paths_.links[path]) change(index(link), left_[index(link)] - paths_.rates[path]);
    waiting_.emplace(checked_add(taken_.time, paths_.durations[path]), ++started_, chunk, source, target);
  }

  const ChunkPaths<Capacity>& paths_;
  std::size_t places_, chunks_, words_ = 0;
  PythonRandom random_;
  std::vector<Capacity> left_;                                // of each link
  Words holders_, free_;                                      // a row of bits for each chunk, and for each target
  std::vector<std::int32_t> blocked_;                         // of each path
  std::vector<std::vector<std::size_t>> using_;               // the paths over each link
  std::vector<std::vector<std::size_t>> sources_;             // of each target, the highest rate first
  std::vector<std::pair<std::size_t, std::size_t>> missing_;  // chunks and places without them
  std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> waiting_;
  std::size_t started_ = 0;
  TakenChunks<Capacity> taken_;
};

}  // namespace forestcoll
