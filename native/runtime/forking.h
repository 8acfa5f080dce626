// What a fork of the process inherits: the sockets, which would keep connections open after the process has died, and
// the engine's values, but not its thread.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>

namespace forestcoll::runtime {

// The sockets of this process; a forked child closes its copies.
class OwnSockets {
 public:
  static void add(int socket) {
    OwnSockets& own = instance();
    const std::lock_guard lock(own.mutex_);
    own.sockets_.insert(socket);
  }
  static void remove(int socket) {
    OwnSockets& own = instance();
    const std::lock_guard lock(own.mutex_);
    own.sockets_.erase(socket);
  }

  // How many forks lie between this process and the first one.
  static unsigned forks() { return instance().forks_.load(std::memory_order_relaxed); }

 private:
  OwnSockets() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); }, [] { instance().in_child(); });
  }

  static OwnSockets& instance() {
    static auto* const own = new OwnSockets;  // never destroyed: a fork may come late
    return *own;
  }

  void in_child() {
    for (const int socket : sockets_) ::close(socket);
    sockets_.clear();
    forks_.fetch_add(1, std::memory_order_relaxed);
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::set<int> sockets_;
  std::atomic<unsigned> forks_ = 0;
};

// Whether this is a fork of the process that made the object. Its locks may never be released then.
class Home {
 public:
  bool is_elsewhere() const { return OwnSockets::forks() != forks_; }

 private:
  const unsigned forks_ = OwnSockets::forks();
};

constexpr const char* kForked = "this process is a fork of the one that made the group; make a new group here";

}  // namespace forestcoll::runtime
