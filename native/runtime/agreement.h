// Whether the ranks of a group call the same operations in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "runtime/connection.h"
#include "runtime/frame.h"
#include "runtime/journal.h"

namespace forestcoll::runtime {

class Agreement {
 public:
  Agreement(int rank, const Journal& journal) : rank_(rank), journal_(journal) {}

  // How many operations were posted here.
  std::uint64_t posted() const { return posted_; }

  // The operation is in the journal: compares it with what other ranks said of it before.
  void note_posted(std::uint64_t number) {
    posted_ = number + 1;
    const auto end = announced_.lower_bound({posted_, 0});
    for (auto entry = announced_.begin(); entry != end; entry = announced_.erase(entry)) {
      compare(entry->first.second, entry->first.first, entry->second);
    }
  }

  // Another rank says what operation `number` is there.
  void note_announced(int peer, std::uint64_t number, const Descriptor& theirs) {
    if (!compare(peer, number, theirs) && announced_.size() < kMostAnnounced) {
      announced_.insert_or_assign({number, peer}, theirs);
    }
  }

  // Throws a fault if it is another operation here. Returns whether it was posted here.
  bool compare(int peer, std::uint64_t number, const Descriptor& theirs) const {
    if (number >= posted_) return false;
    const Descriptor* ours = journal_.find(number);
    if (ours == nullptr || ours->digest == theirs.digest) return true;  // null: one that ended long ago
    throw Fault{peer, mismatch(peer, number, *ours, theirs)};
  }

 private:
  static constexpr std::size_t kMostAnnounced = 1024;

  std::string mismatch(int peer, std::uint64_t number, const Descriptor& ours, const Descriptor& theirs) const {
    std::string text = "operation " + std::to_string(number) + " is " + std::string(ours.text()) + " on " +
                       rank_text(rank_) + ", but " + printable(theirs.text()) + " on " + rank_text(peer);
    if (ours.text() == theirs.text()) text += " with another schedule or other shard sizes";
    return text;
  }

  const int rank_;
  const Journal& journal_;
  std::map<std::pair<std::uint64_t, int>, Descriptor> announced_;  // by operation, not posted here yet, and rank
  std::uint64_t posted_ = 0;
};

}  // namespace forestcoll::runtime
