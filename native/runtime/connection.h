// Non-blocking sockets, and the poller that says which of them can go on.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/forking.h"

namespace forestcoll::runtime {

// A failure that ends the group; `culprit` is the rank at fault.
struct Fault {
  int culprit;
  std::string text;
};

inline std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

// The other end of a connection is gone. Whether that is a fault depends on what else is known of the rank.
struct PeerClosed {
  int peer;
};

class Poller {
 public:
  Poller() : descriptor_(epoll_create1(EPOLL_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
  ~Poller() { shut(); }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void control(int action, int socket, std::uint32_t events, void* tag) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = tag;
    if (epoll_ctl(descriptor_, action, socket, &event) != 0 && errno != ENOENT) {
      throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
  }

  void shut() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  // Returns the number of events, after so many milliseconds at most.
  template <std::size_t kMost>
  int wait(std::array<epoll_event, kMost>& events, int milliseconds) const {
    return epoll_wait(descriptor_, events.data(), kMost, milliseconds);
  }

 private:
  int descriptor_;
};

class Connection {
 public:
  Connection(Poller& poller, int socket, int peer) : poller_(poller), socket_(socket), peer_(peer) {
    OwnSockets::add(socket_);
    want(true, false);
  }
  virtual ~Connection() {
    want(false, false);
    OwnSockets::remove(socket_);
    ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int peer() const { return peer_; }
  int socket() const { return socket_; }
  bool is_open() const { return is_open_; }

  // Stops all transfers; the socket stays until the end.
  void abandon() {
    is_open_ = wants_turn_ = false;
    want(false, false);
  }

  virtual void on_readable() = 0;
  virtual void on_writable() = 0;

 protected:
  void want(bool read, bool write) {
    const std::uint32_t events = (read ? EPOLLIN : 0U) | (write ? EPOLLOUT : 0U);
    if (events == events_) return;
    poller_.control(events == 0 ? EPOLL_CTL_DEL : events_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket_, events, this);
    events_ = events;
  }
  void want_read(bool read) { want(read, (events_ & EPOLLOUT) != 0); }
  void want_write(bool write) { want((events_ & EPOLLIN) != 0, write); }
  bool wants_write() const { return (events_ & EPOLLOUT) != 0; }

  // Return how many bytes were moved, 0 if the system takes or has none now.
  std::size_t read_some(iovec* parts, std::size_t count) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t moved = recvmsg(socket_, &message, MSG_DONTWAIT);
    if (moved == 0) throw PeerClosed{peer_};
    return checked(moved);
  }
  std::size_t write_some(iovec* parts, std::size_t count) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    return checked(sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  // Small frames that wait to be written; used where a connection carries no chunks in this direction.
  void write_later(const void* bytes, std::size_t size) {
    if (waiting_.size() > kMostWaiting) throw Fault{peer_, rank_text(peer_) + " does not read what it is sent"};
    const auto* begin = static_cast<const std::byte*>(bytes);
    waiting_.insert(waiting_.end(), begin, begin + size);
    write_waiting();
  }
  void write_waiting() {
    while (!waiting_.empty()) {
      iovec part{waiting_.data(), waiting_.size()};
      const std::size_t moved = write_some(&part, 1);
      if (moved == 0) break;
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(moved));
    }
    want_write(!waiting_.empty() || wants_turn_);
  }
  // Whether to be called when others were served: a socket that carries little here can nearly always be written.
  void want_turn(bool is_wanted) {
    wants_turn_ = is_wanted;
    want_write(!waiting_.empty() || wants_turn_);
  }
  bool wants_turn() const { return wants_turn_; }
  void drop_waiting() {
    waiting_.clear();
    want_write(false);
  }
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{16} << 20;

  std::size_t checked(ssize_t moved) const {
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
    throw PeerClosed{peer_};
  }

  Poller& poller_;
  const int socket_, peer_;
  std::uint32_t events_ = 0;
  bool is_open_ = true, wants_turn_ = false;
  std::vector<std::byte> waiting_;
};

}  // namespace forestcoll::runtime
