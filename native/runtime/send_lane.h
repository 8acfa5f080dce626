// The sending end of a data connection: the turns of operations, one after the other, in the order of issue.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <deque>
#include <limits>

#include "runtime/connection.h"
#include "runtime/operation.h"

namespace forestcoll::runtime {

// Finds operations by number; null for one that has ended or has not begun.
class Operations {
 public:
  virtual ~Operations() = default;
  virtual Operation* find(std::uint64_t number) = 0;
  // Compares what another rank says operation `number` is with what it is here. Returns whether it was posted here.
  virtual bool compare(int peer, std::uint64_t number, const Descriptor& descriptor) = 0;
  virtual void progressed(Operation& operation) = 0;
};

class SendLane final : public Connection {
 public:
  // `pages` are those of the other rank, if it is on this host.
  SendLane(Poller& poller, Operations& operations, int socket, int peer, PeerPages* pages)
      : Connection(poller, socket, peer), operations_(operations), pages_(pages) {}

  PeerPages* pages() const { return pages_; }

  void enqueue(Operation& operation, Turn& turn) {
    if (turn.chunks_left > 0) turns_.push_back({&operation, &turn});
  }

  void on_writable() override { pump(); }

  // An operation has something to send; where the socket is full, the poller will say when to go on.
  void offered() {
    if (!wants_write()) pump();
  }

  // Writes what can be written, but not so much that other connections wait long.
  void pump() {
    std::size_t written = 0;
    while (written < kMostAtOnce) {
      fill();
      if (frames_.empty()) return want_write(false);
      const std::size_t moved = write_frames();
      if (moved == 0) break;
      written += moved;
      consume(moved);
    }
    want_write(true);
  }

  // Credits, the only frames that come this way.
  void on_readable() override {
    while (true) {
      iovec part{credit_.data() + credit_bytes_, credit_.size() - credit_bytes_};
      const std::size_t moved = read_some(&part, 1);
      if (moved == 0) return;
      credit_bytes_ += moved;
      if (credit_bytes_ == credit_.size()) take_credit();
    }
  }

  // Takes the credits that the other rank sent before it closed: an operation may have waited for them alone.
  void take_last_credits() {
    try {
      if (is_open()) on_readable();
    } catch (const PeerClosed&) {  // as is known
    }
    abandon();
  }

 private:
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 20, kBatchBytes = std::size_t{1} << 16, kBatch = 16;

  struct QueuedTurn {
    Operation* operation;
    Turn* turn;
  };
  struct Frame {
    std::array<std::byte, 2 * sizeof(FrameHeader) + sizeof(Descriptor)> head;
    std::size_t head_bytes = 0;
    OutgoingChunk chunk;
    Operation* operation = nullptr;
    std::size_t body_bytes() const { return chunk.shared || chunk.is_read ? 0 : chunk.bytes; }
    std::size_t size() const { return head_bytes + body_bytes(); }
  };

  void fill() {
    while (!turns_.empty() && frames_.size() < kBatch && queued_ < kBatchBytes) {
      auto [operation, turn] = turns_.front();
      auto chunk = operation->take(*turn);
      if (!chunk) return;
      append(*operation, *turn, std::move(*chunk));
      if (turn->chunks_left == 0) turns_.pop_front();
    }
  }

  void append(Operation& operation, Turn& turn, OutgoingChunk chunk) {
    Frame& frame = frames_.emplace_back();
    frame.operation = &operation;
    if (!turn.opened) {
      put(frame, FrameHeader{FrameKind::kOpen, {}, sizeof(Descriptor), operation.number(), 0, 0, 0});
      put(frame, operation.descriptor());
      turn.opened = true;
      pace(turn.bytes_per_second);
    }
    const auto kind = chunk.is_read ? FrameKind::kLies : chunk.shared ? FrameKind::kShared : FrameKind::kData;
    const auto address = reinterpret_cast<std::uint64_t>(chunk.data);
    put(frame, FrameHeader{kind,
                           {},
                           static_cast<std::uint32_t>(chunk.bytes),
                           operation.number(),
                           chunk.edge,
                           chunk.number,
                           chunk.is_read ? address : chunk.shared.value_or(0)});
    frame.chunk = std::move(chunk);
    queued_ += frame.size();
  }

  template <class Part>
  static void put(Frame& frame, const Part& part) {
    std::memcpy(frame.head.data() + frame.head_bytes, &part, sizeof(Part));
    frame.head_bytes += sizeof(Part);
  }

  std::size_t write_frames() {
    std::array<iovec, 2 * kBatch> parts;
    std::size_t count = 0, skip = front_written_;
    for (Frame& frame : frames_) {
      const std::size_t head = std::min(skip, frame.head_bytes), body = skip - head;
      if (head < frame.head_bytes) parts[count++] = {frame.head.data() + head, frame.head_bytes - head};
      if (frame.body_bytes() > 0) {
        parts[count++] = {const_cast<std::byte*>(frame.chunk.data) + body, frame.body_bytes() - body};
      }
      skip = 0;
    }
    return write_some(parts.data(), count);
  }

  void consume(std::size_t moved) {
    front_written_ += moved;
    while (!frames_.empty() && front_written_ >= frames_.front().size()) {
      Frame done = std::move(frames_.front());
      frames_.pop_front();
      front_written_ -= done.size();
      queued_ -= done.size();
      operations_.progressed(*done.operation);
      done.operation->sent(done.chunk.place);
    }
  }

  void take_credit() {
    FrameHeader header;
    std::memcpy(&header, credit_.data(), sizeof header);
    credit_bytes_ = 0;
    if (header.kind != FrameKind::kCredit)
      throw Fault{peer(), rank_text(peer()) + " sent a frame that does not belong on this connection"};
    Operation* operation = operations_.find(header.operation);
    if (operation == nullptr) return;  // it has ended: everything was sent
    const std::int32_t place = operation->plan().place_of(header.edge);
    const auto& edges = operation->plan().outgoing();
    const bool is_ours = place >= 0 && static_cast<std::size_t>(place) < edges.size() &&
                         edges[static_cast<std::size_t>(place)].number == header.edge;
    if (!is_ours) throw Fault{peer(), rank_text(peer()) + " sent a credit for an edge that is not there"};
    if (!operation->credited(place, header.value))
      throw Fault{peer(), rank_text(peer()) + " sent a credit for chunks that it did not get"};
  }

  // The kernel sends at most this fast, so that no deep queue grows in front of a slow link.
  void pace(std::int64_t bytes_per_second) {
    if (bytes_per_second == paced_) return;
    paced_ = bytes_per_second;
    const std::uint64_t rate =
        paced_ == 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(paced_);
    setsockopt(socket(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
  }

  Operations& operations_;
  PeerPages* const pages_;
  std::deque<QueuedTurn> turns_;
  std::deque<Frame> frames_;
  std::size_t queued_ = 0, front_written_ = 0;
  std::array<std::byte, sizeof(FrameHeader)> credit_;
  std::size_t credit_bytes_ = 0;
  std::int64_t paced_ = 0;
};

}  // namespace forestcoll::runtime
