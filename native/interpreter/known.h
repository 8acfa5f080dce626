// What a block knows about the order: for each actor, how many of its instructions are certainly done.
//
// The actors are all blocks, then the helper of each channel, then the start of each rank. The first instruction of an
// actor has the number 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace forestcoll::interpret {

using Actor = std::int32_t;
using Tick = std::int32_t;

// A sorted list of actors. Copies share their memory until one of them changes.
class Known {
 public:
  struct Entry {
    Actor actor;
    Tick tick;
  };

  Tick of(Actor actor) const {
    if (!entries_) return 0;
    const auto found = place(*entries_, actor);
    return found != entries_->end() && found->actor == actor ? found->tick : 0;
  }

  void learn(Actor actor, Tick tick) {
    if (tick <= of(actor)) return;
    List& own = writable();
    const auto found = own.begin() + (place(own, actor) - own.cbegin());
    if (found != own.end() && found->actor == actor) {
      found->tick = tick;
    } else {
      own.insert(found, {actor, tick});
    }
  }

  void learn(const Known& other) {
    if (!other.entries_ || other.entries_ == entries_) return;
    if (!entries_) {
      entries_ = other.entries_;
      return;
    }
    auto joined = std::make_shared<List>();
    joined->reserve(entries_->size() + other.entries_->size());
    auto one = entries_->cbegin(), two = other.entries_->cbegin();
    while (one != entries_->cend() || two != other.entries_->cend()) {
      if (two == other.entries_->cend() || (one != entries_->cend() && one->actor < two->actor)) {
        joined->push_back(*one++);
      } else if (one == entries_->cend() || two->actor < one->actor) {
        joined->push_back(*two++);
      } else {
        joined->push_back({one->actor, std::max(one->tick, two->tick)});
        ++one, ++two;
      }
    }
    entries_ = std::move(joined);
  }

  void clear() { entries_.reset(); }

 private:
  using List = std::vector<Entry>;

  static List::const_iterator place(const List& list, Actor actor) {
    return std::lower_bound(list.begin(), list.end(), actor,
                            [](const Entry& entry, Actor wanted) { return entry.actor < wanted; });
  }

  List& writable() {
    if (!entries_) {
      entries_ = std::make_shared<List>();
    } else if (entries_.use_count() > 1) {
      entries_ = std::make_shared<List>(*entries_);
    }
    return *entries_;
  }

  std::shared_ptr<List> entries_;
};

}  // namespace forestcoll::interpret
