// The receiving end of a data connection: chunks go straight to where their operation wants them.
#pragma once

#include <array>

#include "runtime/connection.h"
#include "runtime/operation.h"
#include "runtime/send_lane.h"

namespace forestcoll::runtime {

class ReceiveLane final : public Connection {
 public:
  // `pages` are those of the other rank, if it is on this host.
  ReceiveLane(Poller& poller, Operations& operations, int socket, int peer, std::int32_t lane, PeerPages* pages)
      : Connection(poller, socket, peer), operations_(operations), lane_(lane), pages_(pages) {}

  PeerPages* pages() const { return pages_; }

  using Connection::has_waiting;

  bool is_parked() const { return parked_; }

  // Goes on after operations were posted.
  void unpark() {
    if (!parked_) return;
    parked_ = false;
    want_read(true);
    parse();
  }

  void on_readable() override {
    std::size_t taken = 0;
    while (can_go_on() && taken < kMostAtOnce) {
      const std::size_t moved = read_parts();
      if (moved == 0) return;
      taken += moved;
      parse();
    }
  }

  // Takes what the other rank sent before it closed.
  void drain() {
    try {
      while (is_open() && !parked_ && (wants_turn() || read_parts() > 0)) resume();
    } catch (const PeerClosed&) {
      abandon();
    }
  }

  void on_writable() override {
    write_waiting();
    if (wants_turn()) resume();
  }

  void grant(std::uint64_t operation, std::uint32_t edge, std::uint64_t freed) {
    const FrameHeader header{FrameKind::kCredit, {}, 0, operation, edge, 0, freed};
    write_later(&header, sizeof header);
  }

 private:
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 20, kBuffer = 8192;

  // Large chunks take long to read, and a pause lets other connections be served.
  bool can_go_on() const { return !parked_ && !wants_turn(); }
  void resume() {
    read_ = 0;
    want_turn(false);
    parse();
  }

  // Reads what is left of the chunk to its place, and what lies behind it into the buffer.
  std::size_t read_parts() {
    if (begin_ == end_) begin_ = end_ = 0;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    iovec parts[] = {{payload_, payload_left_}, {buffer_.data() + end_, buffer_.size() - end_}};
    const std::size_t moved = payload_left_ > 0 ? read_some(parts, 2) : read_some(parts + 1, 1);
    const std::size_t to_payload = std::min(moved, payload_left_);
    advance(to_payload);
    end_ += moved - to_payload;
    return moved;
  }

  void advance(std::size_t bytes) {
    if (bytes == 0) return;
    payload_ += bytes;
    payload_left_ -= bytes;
    operations_.progressed(*operation_);
    if (payload_left_ == 0) operation_->arrived(place_);
  }

  void parse() {
    while (can_go_on() && begin_ < end_) {
      if (payload_left_ > 0) {
        const std::size_t bytes = std::min(payload_left_, end_ - begin_);
        std::memcpy(payload_, buffer_.data() + begin_, bytes);
        begin_ += bytes;
        advance(bytes);
      } else if (!parse_frame()) {
        return;
      }
    }
  }

  // Returns whether a frame, or the header of one with a chunk, was taken from the buffer.
  bool parse_frame() {
    FrameHeader header;
    if (end_ - begin_ < sizeof header) return false;
    std::memcpy(&header, buffer_.data() + begin_, sizeof header);
    if (header.kind == FrameKind::kOpen) return parse_open(header);
    const bool has_chunk =
        header.kind == FrameKind::kData || header.kind == FrameKind::kShared || header.kind == FrameKind::kLies;
    if (!has_chunk || header.length == 0 || header.operation != opened_) throw malformed();
    begin_ += sizeof header;
    expect(header);
    return true;
  }

  bool parse_open(const FrameHeader& header) {
    Descriptor descriptor;
    if (header.length != sizeof descriptor) throw malformed();
    if (end_ - begin_ < sizeof header + sizeof descriptor) return false;
    std::memcpy(&descriptor, buffer_.data() + begin_ + sizeof header, sizeof descriptor);
    if (!operations_.compare(peer(), header.operation, descriptor)) {
      parked_ = true;
      want_read(false);
      return false;
    }
    opened_ = header.operation;
    begin_ += sizeof header + sizeof descriptor;
    return true;
  }

  void expect(const FrameHeader& header) {
    operation_ = operations_.find(header.operation);
    if (operation_ == nullptr) throw malformed();
    place_ = operation_->plan().place_of(header.edge);
    const auto& edges = operation_->plan().incoming();
    const auto place = static_cast<std::size_t>(place_);
    if (place_ < 0 || place >= edges.size() || edges[place].number != header.edge || edges[place].lane != lane_) {
      throw malformed();
    }
    if (header.kind == FrameKind::kShared) return refer(header);
    if (header.kind == FrameKind::kLies) return read(header);
    payload_ = operation_->expect(place_, header.chunk, header.length);
    if (payload_ == nullptr) throw malformed();
    payload_left_ = header.length;
  }

  // The chunk lies in the sender's pages.
  void refer(const FrameHeader& header) {
    const std::byte* const data = pages_ == nullptr ? nullptr : pages_->find(header.value, header.length);
    if (data == nullptr || !operation_->refer(place_, header.chunk, header.length, data, header.value)) {
      throw malformed();
    }
    operations_.progressed(*operation_);
    operation_->arrived(place_);
  }

  // The chunk lies in the sender's memory.
  void read(const FrameHeader& header) {
    std::byte* const to = operation_->expect_read(place_, header.chunk, header.length);
    if (pages_ == nullptr || to == nullptr) throw malformed();
    if (!pages_->read(header.value, to, header.length)) {
      abandon();  // what comes behind it does not follow the chunk before it
      throw PeerClosed{peer()};
    }
    operations_.progressed(*operation_);
    operation_->arrived(place_);
    read_ += header.length;
    if (read_ >= kMostAtOnce) want_turn(true);
  }

  Fault malformed() const { return {peer(), rank_text(peer()) + " sent a frame that does not fit its operation"}; }

  Operations& operations_;
  const std::int32_t lane_;
  PeerPages* const pages_;
  bool parked_ = false;
  std::uint64_t opened_ = ~std::uint64_t{0};  // the operation of the last open frame
  Operation* operation_ = nullptr;
  std::int32_t place_ = 0;
  std::byte* payload_ = nullptr;
  std::size_t payload_left_ = 0;
  std::size_t read_ = 0;  // bytes in the sender's memory, since the last pause
  std::array<std::byte, kBuffer> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace forestcoll::runtime
