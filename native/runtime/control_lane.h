// A connection for everything but data, one for each two ranks that share a data connection. It is always read.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "runtime/connection.h"
#include "runtime/frame.h"

namespace forestcoll::runtime {

class ControlLane;

class ControlHandler {
 public:
  virtual ~ControlHandler() = default;
  virtual void on_control(ControlLane& lane, const FrameHeader& header, std::string_view payload) = 0;
};

class ControlLane final : public Connection {
 public:
  using Clock = std::chrono::steady_clock;

  ControlLane(Poller& poller, ControlHandler& handler, int socket, int peer)
      : Connection(poller, socket, peer), handler_(handler) {}

  // An end that has closed is found when the connections of its rank are read: what it sent before, such as a goodbye,
  // counts.
  void send(const FrameHeader& header, std::string_view payload = {}) {
    if (!is_open() || has_left || !is_heard_) return;
    std::array<std::byte, sizeof(FrameHeader) + kMostText> frame;
    std::memcpy(frame.data(), &header, sizeof header);
    const std::size_t size = std::min<std::size_t>(payload.size(), kMostText);
    std::copy_n(payload.data(), size, reinterpret_cast<char*>(frame.data() + sizeof header));
    try {
      write_later(frame.data(), sizeof header + size);
    } catch (const PeerClosed&) {  // it takes nothing more; what it has sent can still be read
      is_heard_ = false;
      drop_waiting();
    }
  }

  // Takes an abort or a goodbye that came before the other end closed. Where another connection closed first, waits a
  // little for this one: the connections of a process that ends close one after the other.
  void hear_out() {
    const auto end = Clock::now() + kOthersClose;
    try {
      if (is_open()) on_readable();
      while (is_open() && !has_left && Clock::now() < end) {
        pollfd waiting{socket(), POLLIN, 0};
        ::poll(&waiting, 1, kLookMilliseconds);
        on_readable();
      }
    } catch (const PeerClosed&) {
      abandon();
    }
  }

  // What is said of a rank that has not left, after `hear_out`.
  std::string loss() const {
    const std::string rank = rank_text(peer());
    return is_open() ? "a connection to " + rank + " broke" : "the process of " + rank + " ended or was killed";
  }

  void on_writable() override { write_waiting(); }

  void on_readable() override {
    acknowledge_at_once();
    while (is_open()) {
      iovec part{buffer_.data() + filled_, buffer_.size() - filled_};
      const std::size_t moved = read_some(&part, 1);
      if (moved == 0) return;
      filled_ += moved;
      parse();
    }
  }

  using Connection::has_waiting;

  bool has_left = false;                // the rank closes in good order
  Clock::time_point last_pong{};        // when it last answered
  std::uint64_t posted = 0;             // how many operations it had posted then
  std::uint64_t oldest = kNoOperation;  // the oldest one that ran there then

 private:
  static constexpr auto kOthersClose = std::chrono::milliseconds(300);
  static constexpr int kLookMilliseconds = 10;

  // A rank that closes waits until its goodbye is acknowledged, which takes 40 ms otherwise.
  void acknowledge_at_once() const {
    const int on = 1;
    setsockopt(socket(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
  }

  void parse() {
    std::size_t begin = 0;
    FrameHeader header;
    while (filled_ - begin >= sizeof header) {
      std::memcpy(&header, buffer_.data() + begin, sizeof header);
      if (header.length > kMostText) throw Fault{peer(), rank_text(peer()) + " sent a frame that is too long"};
      if (filled_ - begin < sizeof header + header.length) break;
      const auto* payload = reinterpret_cast<const char*>(buffer_.data() + begin + sizeof header);
      begin += sizeof header + header.length;
      handler_.on_control(*this, header, {payload, header.length});
    }
    std::memmove(buffer_.data(), buffer_.data() + begin, filled_ - begin);
    filled_ -= begin;
  }

  ControlHandler& handler_;
  bool is_heard_ = true;
  std::array<std::byte, 4096> buffer_;
  std::size_t filled_ = 0;
};

}  // namespace forestcoll::runtime
