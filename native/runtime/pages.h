// Memory that the ranks of one host share: each rank writes to its own pages, and reads those of its neighbours.
//
// A chunk for a rank of the same host is copied to a block of the sender's pages, once for all ranks that it goes to,
// and only where it lies goes over the connections. Who has read a block writes its place to a list in pages of its
// own; the sender looks there before it takes the next block. Pages are a file without a name, whose descriptor is
// passed over a connection: the last process that ends frees them, however it ends. Seals keep their size, so that
// reading them cannot fail, and others from writing to them.
//
// A rank that may do so (as a debugger may: the system decides) reads large chunks in the memory of the sender's
// caller, where they lie. That is one copy instead of two. The sender has written there whether its group has failed:
// from then on its caller may change the memory.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "runtime/connection.h"
#include "runtime/forking.h"

namespace forestcoll::runtime {

namespace pages {

constexpr std::size_t kMostUnread = 1024;  // blocks that a rank has not returned
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

// What a rank says of itself, at the beginning of its pages.
struct State {
  alignas(64) std::uint64_t mark;         // a random number,
  std::uint64_t mark_address;             // and where it lies in the memory of the rank's process
  std::atomic<std::uint64_t> has_failed;  // its group
};

// What a rank has read of the blocks of one other.
struct Returned {
  alignas(64) std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> reads_memory;  // whether it can read the memory of the other's process
  std::array<std::atomic<std::uint64_t>, kMostUnread> places;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline std::size_t bytes_before_blocks(std::size_t ranks) { return sizeof(State) + ranks * sizeof(Returned); }

inline std::system_error failure(const char* call) { return {errno, std::generic_category(), call}; }

// A part of the address space, which a fork does not inherit.
class Mapping {
 public:
  Mapping(int file, std::size_t bytes, int access) : bytes_(bytes) {
    void* const found = mmap(nullptr, bytes, access, MAP_SHARED, file, 0);
    if (found == MAP_FAILED) throw failure("mmap");
    begin_ = static_cast<std::byte*>(found);
    madvise(found, bytes, MADV_DONTFORK);
  }
  ~Mapping() {
    if (!home_.is_elsewhere()) munmap(begin_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const Home home_;
  std::byte* begin_;
  const std::size_t bytes_;
};

}  // namespace pages

class OwnPages {
 public:
  // `ranks`: how many the group has; `bytes`: for blocks.
  OwnPages(std::size_t ranks, std::size_t bytes)
      : file_(memfd_create("forestcoll", MFD_CLOEXEC | MFD_ALLOW_SEALING)), first_(pages::bytes_before_blocks(ranks)) {
    if (file_ < 0) throw pages::failure("memfd_create");
    OwnSockets::add(file_);
    try {
      if (ftruncate(file_, static_cast<off_t>(first_ + bytes)) != 0) throw pages::failure("ftruncate");
      mapping_ = std::make_unique<pages::Mapping>(file_, first_ + bytes, PROT_READ | PROT_WRITE);
      if (fcntl(file_, F_ADD_SEALS, pages::kSeals | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
        throw pages::failure("fcntl");
      }
    } catch (...) {
      close_file();
      throw;
    }
    clear();
    std::random_device random;
    mark_ = std::uint64_t{random()} << 32 | random();
    state().mark = mark_;
    state().mark_address = reinterpret_cast<std::uint64_t>(&mark_);
  }
  ~OwnPages() { close_file(); }
  OwnPages(const OwnPages&) = delete;
  OwnPages& operator=(const OwnPages&) = delete;

  int file() const { return file_; }

  // After it was passed on to all neighbours.
  void close_file() {
    if (file_ < 0) return;
    OwnSockets::remove(file_);
    ::close(file_);
    file_ = -1;
  }

  // Returns the place of a free block for `bytes`, which `readers` ranks will read; nothing where there is none.
  std::optional<std::uint64_t> take(std::size_t bytes, std::uint32_t readers) {
    const std::size_t size = std::bit_ceil(bytes);
    auto& free = free_[size];
    std::uint64_t place = next_;
    if (!free.empty()) {
      place = free.back();
      free.pop_back();
    } else if (size <= mapping_->bytes() - next_) {
      next_ += size;
    } else {
      return std::nullopt;
    }
    used_[place] = {size, readers};
    return place;
  }

  std::byte* at(std::uint64_t place) const { return mapping_->begin() + place; }

  // One of the ranks has read the block. Returns whether that can be.
  bool was_read(std::uint64_t place) {
    const auto found = used_.find(place);
    if (found == used_.end()) return false;
    if (--found->second.readers > 0) return true;
    free_[found->second.size].push_back(place);
    used_.erase(found);
    if (used_.empty()) clear();
    return true;
  }

  // Tells `rank` that its block was read.
  void give_back(int rank, std::uint64_t place) const {
    pages::Returned& returned = returned_to(rank);
    const std::uint64_t count = returned.count.load(std::memory_order_relaxed);
    returned.places[count % pages::kMostUnread].store(place, std::memory_order_relaxed);
    returned.count.store(count + 1, std::memory_order_release);
  }

  // Tells `rank` that this one can read the memory of its process.
  void note_reading(int rank) const { returned_to(rank).reads_memory.store(1); }

  // Tells all that what they read in the memory of this process may be wrong from now on.
  void note_failure() const { state().has_failed.store(1); }

 private:
  struct Block {
    std::size_t size;
    std::uint32_t readers;
  };

  pages::State& state() const { return *reinterpret_cast<pages::State*>(mapping_->begin()); }
  pages::Returned& returned_to(int rank) const {
    return reinterpret_cast<pages::Returned*>(mapping_->begin() + sizeof(pages::State))[rank];
  }

  // Blocks of one size do not keep others from what is free.
  void clear() {
    free_.clear();
    next_ = (first_ + 4095) / 4096 * 4096;
  }

  int file_;
  const std::size_t first_;
  std::unique_ptr<pages::Mapping> mapping_;
  std::uint64_t next_ = 0;                                  // from here on, nothing was used
  std::map<std::size_t, std::vector<std::uint64_t>> free_;  // by size
  std::unordered_map<std::uint64_t, Block> used_;           // by place
  std::uint64_t mark_ = 0;
};

// The pages of another rank.
class PeerPages {
 public:
  PeerPages(int file, int peer, int own_rank) : peer_(peer), own_rank_(static_cast<std::size_t>(own_rank)) {
    struct stat state{};
    const int seals = fcntl(file, F_GET_SEALS);
    if (fstat(file, &state) != 0) throw pages::failure("fstat");
    const auto bytes = static_cast<std::size_t>(state.st_size);
    if (seals < 0 || (seals & pages::kSeals) != pages::kSeals || bytes < pages::bytes_before_blocks(own_rank_ + 1)) {
      throw std::invalid_argument(rank_text(peer) + " passed a file that is not sealed");
    }
    mapping_ = std::make_unique<pages::Mapping>(file, bytes, PROT_READ);
  }

  // The block there, or null where there is none.
  const std::byte* find(std::uint64_t place, std::size_t bytes) const {
    const std::size_t all = mapping_->bytes();
    return place <= all && bytes <= all - place ? mapping_->begin() + place : nullptr;
  }

  bool is_full() const { return sent_ - taken_back_ >= pages::kMostUnread; }
  void note_sent() { ++sent_; }

  // Returns the next of this rank's blocks that the other one has read.
  std::optional<std::uint64_t> next_returned() {
    const pages::Returned& returned = returned_here();
    if (returned.count.load(std::memory_order_acquire) == taken_back_) return std::nullopt;
    if (taken_back_ == sent_) throw Fault{peer_, rank_text(peer_) + " returned memory that it did not get"};
    return returned.places[taken_back_++ % pages::kMostUnread].load(std::memory_order_relaxed);
  }

  // Finds the process at the other end of a connection, and returns whether this one can read its memory.
  bool find_process(int socket) {
    ucred other{};
    socklen_t size = sizeof other;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0 || other.pid <= 0) return false;
    process_ = other.pid;
    std::uint64_t mark = 0;
    return read(state().mark_address, reinterpret_cast<std::byte*>(&mark), sizeof mark) && mark == state().mark;
  }

  // Copies from the memory of the other rank's process. Returns whether it was as the rank has said.
  bool read(std::uint64_t address, std::byte* to, std::size_t bytes) const {
    const iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
    const ssize_t moved = process_vm_readv(process_, &here, 1, &there, 1, 0);
    return moved == static_cast<ssize_t>(bytes) && state().has_failed.load() == 0;
  }

  // Whether the other rank can read the memory of this process.
  bool reads_memory() const { return returned_here().reads_memory.load() != 0; }

 private:
  const pages::State& state() const { return *reinterpret_cast<const pages::State*>(mapping_->begin()); }
  const pages::Returned& returned_here() const {
    return reinterpret_cast<const pages::Returned*>(mapping_->begin() + sizeof(pages::State))[own_rank_];
  }

  const int peer_;
  const std::size_t own_rank_;
  std::unique_ptr<pages::Mapping> mapping_;
  std::uint64_t sent_ = 0, taken_back_ = 0;  // blocks
  pid_t process_ = 0;
};

// The pages of all ranks of this host that share a connection with this one.
class HostPages {
 public:
  void create(std::size_t ranks, std::size_t bytes) { own_ = std::make_unique<OwnPages>(ranks, bytes); }
  void add(int file, int peer, int own_rank) { peers_[peer] = std::make_unique<PeerPages>(file, peer, own_rank); }

  OwnPages* own() const { return own_.get(); }
  PeerPages* of(int peer) const {
    const auto found = peers_.find(peer);
    return found == peers_.end() ? nullptr : found->second.get();
  }

  bool has_peers() const { return !peers_.empty(); }
  std::size_t ranks() const { return peers_.size() + 1; }

  // Returns the place of a block, as `OwnPages::take`, after all that was read is free again.
  std::optional<std::uint64_t> take(std::size_t bytes, std::uint32_t readers) {
    for (auto& [peer, theirs] : peers_) {
      while (const auto place = theirs->next_returned()) {
        if (!own_->was_read(*place)) throw Fault{peer, rank_text(peer) + " returned memory that it did not get"};
      }
    }
    return own_->take(bytes, readers);
  }

 private:
  std::unique_ptr<OwnPages> own_;
  std::map<int, std::unique_ptr<PeerPages>> peers_;
};

}  // namespace forestcoll::runtime
