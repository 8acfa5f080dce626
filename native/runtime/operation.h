// One collective operation on one rank: which chunks have come, which can go, and where each lies.
//
// Chunks of an edge travel in order, so a counter an edge says what has come. A chunk can be sent up when all children
// have brought theirs, and sent on when it was added up at the root or came from above. These rules are the edges of an
// acyclic graph of chunks. Staging memory is a ring of `window` chunks an edge; who sends waits for credits when the
// ring may be full. A receiver always has room for what it allowed, so it always reads, and no cycle of waits arises.
// From a rank of the same host, a chunk is read where it lies in that rank's pages. There, chunks for the caller's
// memory wait for credits, too: the pages that they take are few, and stay in the caches. Chunks that are read in the
// sender's memory take no pages, and wait for none: only the last credit is sent.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/folding.h"
#include "runtime/frame.h"
#include "runtime/pages.h"
#include "runtime/plan.h"
#include "runtime/request.h"
#include "runtime/staging.h"
#include "runtime/turn.h"
#include "runtime/work.h"

namespace forestcoll::runtime {

// What an operation asks of the connections.
class Courier {
 public:
  virtual ~Courier() = default;
  virtual void ready(std::int32_t lane) = 0;  // an operation has a chunk for this connection
  virtual void grant(std::int32_t lane, std::uint64_t operation, std::uint32_t edge, std::uint64_t freed) = 0;
  virtual HostPages& pages() = 0;
  virtual PeerPages* pages_of_target(std::int32_t lane) = 0;           // null if it is on another host
  virtual PeerPages* pages_of_source(std::int32_t lane) = 0;           // null if it is on another host
  virtual void give_back(std::int32_t lane, std::uint64_t block) = 0;  // a chunk was read from its sender's pages
};

class Operation {
 public:
  Operation(std::uint64_t number, Request request, std::shared_ptr<Work> work)
      : request_(std::move(request)), number_(number), work_(std::move(work)), element_(size_of(request_.type)) {
    make_incoming();
    make_outgoing();
    folded_.resize(plan().flows().size());
  }
  // A caller never waits for an operation that is gone.
  ~Operation() { work_->finish("the operation was abandoned"); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  std::uint64_t number() const { return number_; }
  const Descriptor& descriptor() const { return request_.descriptor; }
  std::string label() const {
    return "operation " + std::to_string(number_) + " (" + std::string(descriptor().text()) + ")";
  }
  const Request& request() const { return request_; }
  Work& work() { return *work_; }
  bool is_done() const { return edges_left_ == 0; }
  std::vector<Turn>& turns() { return turns_; }

  // Marks everything that can be sent at once. Only from here on are pool and courier used.
  void start(StagingPool& pool, Courier& courier) {
    pool_ = &pool;
    courier_ = &courier;
    share_lanes();
    for (std::size_t place = 0; place < outgoing_.size(); ++place) offer(static_cast<std::int32_t>(place));
  }

  // Returns the next chunk of a turn, if one can be sent now.
  std::optional<OutgoingChunk> take(Turn& turn) {
    const auto place = turn.pop();
    if (!place) return std::nullopt;
    Outgoing& edge = outgoing_[index(*place)];
    edge.offered = false;
    const PlannedEdge& planned = plan().outgoing()[index(*place)];
    OutgoingChunk chunk{planned.number, *place, edge.taken, nullptr, bytes_of(planned.flow, edge.taken), {}, {}};
    chunk.is_read = edge.is_read;
    if (!edge.is_read && edge.reader != nullptr && chunk.bytes >= kLeastShared) share(planned, *edge.reader, chunk);
    if (!chunk.shared) take_from_source(planned, chunk);
    ++edge.taken;
    --turn.chunks_left;
    offer(*place);
    return chunk;
  }

  // A chunk of this outgoing edge was handed to the system.
  void sent(std::int32_t place) {
    Outgoing& edge = outgoing_[index(place)];
    const PlannedEdge& planned = plan().outgoing()[index(place)];
    if (++edge.sent == edge.total && !edge.is_read) --edges_left_;
    const PlannedFlow& flow = plan().flows()[planned.flow];
    if (planned.phase == Phase::kReduce) {
      if (!flow.children.empty()) free_until(flow.children.front(), edge.sent);
    } else {
      free_passed_on(flow);
    }
  }

  // The receiver has taken `freed` chunks of this outgoing edge out of its staging memory. Returns whether that can be.
  bool credited(std::int32_t place, std::uint64_t freed) {
    Outgoing& edge = outgoing_[index(place)];
    if (freed > edge.taken) return false;
    if (edge.is_read && edge.freed < edge.total && freed == edge.total) --edges_left_;
    edge.freed = std::max(edge.freed, static_cast<std::uint32_t>(freed));
    offer(place);
    if (edge.reader != nullptr) offer_onward(plan().outgoing()[index(place)]);
    return true;
  }

  // Where the next chunk of this incoming edge goes, or nothing if `chunk` and `bytes` are not what comes next.
  std::byte* expect(std::int32_t place, std::uint32_t chunk, std::size_t bytes) {
    if (!is_next(place, chunk, bytes)) return nullptr;
    const PlannedEdge& planned = plan().incoming()[index(place)];
    return is_direct(planned) ? in_result(planned.flow, chunk) : slot(place, chunk);
  }

  // Takes the next chunk of this incoming edge from a block of its sender's pages, or nothing if it is not what comes
  // next.
  bool refer(std::int32_t place, std::uint32_t chunk, std::size_t bytes, const std::byte* data, std::uint64_t block) {
    if (!is_next(place, chunk, bytes)) return false;
    Incoming& edge = incoming_[index(place)];
    const PlannedEdge& planned = plan().incoming()[index(place)];
    if (is_direct(planned)) {
      std::memcpy(in_result(planned.flow, chunk), data, bytes);
      courier_->give_back(planned.lane, block);
    } else {
      edge.views.resize(edge.window);
      edge.views[chunk % edge.window] = {data, block};
    }
    return true;
  }

  // Where the next chunk of this incoming edge goes, which is read in its sender's memory, or nothing if it is not what
  // comes next.
  std::byte* expect_read(std::int32_t place, std::uint32_t chunk, std::size_t bytes) {
    incoming_[index(place)].is_read = true;
    return is_direct(plan().incoming()[index(place)]) ? expect(place, chunk, bytes) : nullptr;
  }

  // The chunk that `expect` made room for, or that `refer` took, is there.
  void arrived(std::int32_t place) {
    Incoming& edge = incoming_[index(place)];
    const PlannedEdge& planned = plan().incoming()[index(place)];
    if (++edge.arrived == edge.total) --edges_left_;
    const PlannedFlow& flow = plan().flows()[planned.flow];
    if (planned.phase == Phase::kReduce) {
      fold_ready(planned.flow);
      if (flow.up >= 0) return offer(flow.up);
    } else if (is_direct(planned) && edge.window != 0) {
      free_until(place, edge.arrived);
    }
    for (const std::int32_t onward : flow.onward) offer(onward);
    free_passed_on(flow);
  }

  // The connections on which data is still to come, and those on which it is still to go.
  std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> lanes_waited_for() const {
    std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> lanes;
    for (std::size_t place = 0; place < incoming_.size(); ++place) {
      if (incoming_[place].arrived < incoming_[place].total) lanes.first.push_back(plan().incoming()[place].lane);
    }
    for (std::size_t place = 0; place < outgoing_.size(); ++place) {
      const Outgoing& edge = outgoing_[place];
      const bool is_full = edge.window != 0 && edge.taken < edge.total && edge.taken - edge.freed >= edge.window;
      if (edge.sent < edge.taken || is_full || (edge.is_read && edge.freed < edge.taken))
        lanes.second.push_back(plan().outgoing()[place].lane);
    }
    return lanes;
  }

  // How many chunks are still to be received and to be sent.
  std::uint32_t chunks_left() const {
    std::uint32_t left = 0;
    for (const Incoming& edge : incoming_) left += edge.total - edge.arrived;
    for (const Outgoing& edge : outgoing_) left += edge.total - edge.sent;
    return left;
  }

  const Plan& plan() const { return *request_.plan; }

 private:
  static constexpr std::size_t kLeastShared = 4096;                   // bytes; less goes over the connection
  static constexpr std::size_t kLeastRead = std::size_t{1} << 15;     // bytes; less is copied to the pages
  static constexpr std::int64_t kMostUnread = std::int64_t{1} << 21;  // bytes of an edge to a caller's memory

  // A chunk in its sender's pages.
  struct View {
    const std::byte* data = nullptr;
    std::uint64_t block = 0;
  };
  struct Incoming {
    std::uint32_t total = 0, window = 0, arrived = 0, freed = 0, reported = 0;
    StagingPool::Buffer ring;
    std::vector<View> views;  // of a window, where the sender is on this host
    bool is_read = false;     // in the memory of the sender, which waits for the last credit
  };
  // A chunk in this rank's pages that several ranks get.
  struct Published {
    std::uint64_t block = 0;
    std::uint32_t takers = 0;  // that are still to come
  };
  struct Outgoing {
    std::uint32_t total = 0, window = 0, taken = 0, sent = 0, freed = 0;
    std::size_t turn = 0;
    bool offered = false;
    PeerPages* reader = nullptr;  // of the receiver, if it is on this host
    bool is_read = false;         // whether it reads where the chunks lie
  };

  static std::size_t index(std::int32_t place) { return static_cast<std::size_t>(place); }

  void make_incoming() {
    for (const PlannedEdge& edge : plan().incoming()) {
      Incoming state;
      state.total = range(edge.flow).chunks();
      state.window = window_of(edge);
      edges_left_ += state.total > 0;
      incoming_.push_back(std::move(state));
    }
  }

  void make_outgoing() {
    std::vector<std::int32_t> turn_of_lane;
    for (const PlannedEdge& edge : plan().outgoing()) {
      if (turn_of_lane.size() <= index(edge.lane)) turn_of_lane.resize(index(edge.lane) + 1, -1);
      std::int32_t& turn = turn_of_lane[index(edge.lane)];
      if (turn < 0) {
        turn = static_cast<std::int32_t>(turns_.size());
        turns_.emplace_back(edge.lane);
      }
      Outgoing state;
      state.total = range(edge.flow).chunks();
      state.window = window_of(edge);
      state.turn = index(turn);
      edges_left_ += state.total > 0;
      turns_[state.turn].chunks_left += state.total;
      turns_[state.turn].bytes_per_second += edge.bytes_per_second;
      outgoing_.push_back(state);
    }
  }

  // Both ranks of an edge know whether they are on one host.
  void share_lanes() {
    for (std::size_t place = 0; place < incoming_.size(); ++place) {
      const PlannedEdge& edge = plan().incoming()[place];
      if (is_direct(edge) && courier_->pages_of_source(edge.lane) != nullptr) {
        incoming_[place].window = window_of(edge, kMostUnread);
      }
    }
    for (std::size_t place = 0; place < outgoing_.size(); ++place) {
      const PlannedEdge& edge = plan().outgoing()[place];
      outgoing_[place].reader = courier_->pages_of_target(edge.lane);
      if (!is_direct(edge) || outgoing_[place].reader == nullptr) continue;
      outgoing_[place].is_read = outgoing_[place].total > 0 && outgoing_[place].reader->reads_memory() &&
                                 stride(edge.flow) >= kLeastRead && lies_still(edge);
      if (!outgoing_[place].is_read) outgoing_[place].window = window_of(edge, kMostUnread);
    }
  }

  // Whether the chunks of an edge lie in the caller's memory, where nobody changes them before the operation has ended.
  bool lies_still(const PlannedEdge& planned) const {
    const PlannedFlow& flow = plan().flows()[planned.flow];
    if (planned.phase == Phase::kReduce) return false;
    if (flow.down >= 0) return !is_staged(flow);
    return request_.result != nullptr || (flow.children.empty() && request_.own != nullptr);
  }

  // Whether the receiver wants the data of an edge in the caller's memory.
  static bool is_direct(const PlannedEdge& edge) { return edge.window_bytes == 0; }

  bool is_next(std::int32_t place, std::uint32_t chunk, std::size_t bytes) const {
    const Incoming& edge = incoming_[index(place)];
    if (edge.window != 0 && edge.arrived - edge.freed >= edge.window) return false;
    return chunk == edge.arrived && chunk < edge.total &&
           bytes == bytes_of(plan().incoming()[index(place)].flow, chunk);
  }

  const FlowRange& range(std::uint32_t flow) const { return request_.layout->ranges[flow]; }
  std::size_t stride(std::uint32_t flow) const { return static_cast<std::size_t>(range(flow).chunk) * element_; }
  std::size_t bytes_of(std::uint32_t flow, std::uint32_t chunk) const {
    return static_cast<std::size_t>(range(flow).size_of(chunk)) * element_;
  }

  // Both ranks of an edge compute the same: two chunks or more, as one arrives while the other is passed on.
  std::uint32_t window_of(const PlannedEdge& edge) const {
    return is_direct(edge) ? 0 : window_of(edge, edge.window_bytes);
  }
  std::uint32_t window_of(const PlannedEdge& edge, std::int64_t bytes) const {
    const auto fitting = static_cast<std::size_t>(bytes) / stride(edge.flow);
    return std::min(range(edge.flow).chunks(), static_cast<std::uint32_t>(std::max<std::size_t>(2, fitting)));
  }

  std::byte* slot(std::int32_t place, std::uint32_t chunk) {
    Incoming& edge = incoming_[index(place)];
    const std::size_t bytes = stride(plan().incoming()[index(place)].flow);
    if (edge.ring.data() == nullptr) edge.ring = pool_->take(edge.window * bytes);
    return edge.ring.data() + (chunk % edge.window) * bytes;
  }
  // Where a chunk that has come and is not freed lies.
  const std::byte* came_to(std::int32_t place, std::uint32_t chunk) {
    const Incoming& edge = incoming_[index(place)];
    const std::byte* const shared = edge.views.empty() ? nullptr : edge.views[chunk % edge.window].data;
    return shared != nullptr ? shared : slot(place, chunk);
  }
  std::byte* in_result(std::uint32_t flow, std::uint32_t chunk) {
    return request_.result + static_cast<std::size_t>(range(flow).begin_of(chunk) - request_.result_begin) * element_;
  }
  const std::byte* in_own(std::uint32_t flow, std::uint32_t chunk) const {
    return request_.own + static_cast<std::size_t>(range(flow).begin_of(chunk)) * element_;
  }

  // How many chunks of an outgoing edge are there to be sent.
  std::uint32_t available(const PlannedEdge& planned) const {
    const PlannedFlow& flow = plan().flows()[planned.flow];
    if (planned.phase == Phase::kBroadcast && flow.down >= 0) return incoming_[index(flow.down)].arrived;
    return flow.children.empty() ? range(planned.flow).chunks() : folded_[planned.flow];
  }

  const std::byte* source(const PlannedEdge& planned, std::uint32_t chunk) {
    const PlannedFlow& flow = plan().flows()[planned.flow];
    if (planned.phase == Phase::kReduce) {
      return flow.children.empty() ? in_own(planned.flow, chunk) : slot(flow.children.front(), chunk);
    }
    if (flow.down >= 0) return is_staged(flow) ? came_to(flow.down, chunk) : in_result(planned.flow, chunk);
    if (flow.children.empty() && request_.own != nullptr) return in_own(planned.flow, chunk);
    return request_.result != nullptr ? in_result(planned.flow, chunk) : slot(flow.children.front(), chunk);
  }

  // Whether what comes from above lies in staging memory: this rank passes it on, and it is not for this rank.
  bool is_staged(const PlannedFlow& flow) const { return !is_direct(plan().incoming()[index(flow.down)]); }

  bool is_scaled(const PlannedEdge& planned) const {
    return request_.reduction == Reduction::kPremulSum && planned.phase == Phase::kReduce &&
           plan().flows()[planned.flow].children.empty();
  }

  void take_from_source(const PlannedEdge& planned, OutgoingChunk& chunk) {
    chunk.data = source(planned, chunk.number);
    if (!is_scaled(planned)) return;
    chunk.owned = pool_->take(chunk.bytes);
    scale(planned, chunk, chunk.owned.data());
    chunk.data = chunk.owned.data();
  }

  void scale(const PlannedEdge& planned, const OutgoingChunk& chunk, std::byte* to) {
    const std::byte* const sources[] = {source(planned, chunk.number)};
    run(Fold{request_.type, request_.reduction, sources, true, request_.factor, 0, to,
             static_cast<std::size_t>(range(planned.flow).size_of(chunk.number))});
  }

  // Puts a chunk where the ranks of this host that get it can read it, if there is room.
  void share(const PlannedEdge& planned, PeerPages& reader, OutgoingChunk& chunk) {
    auto published = published_.find({planned.flow, chunk.number});
    if (published == published_.end() || planned.phase == Phase::kReduce) {
      if (reader.is_full()) return;
      const std::uint32_t takers = takers_of(planned, chunk.number);
      const auto block = courier_->pages().take(chunk.bytes, takers);
      if (!block) return;
      write_to(courier_->pages().own()->at(*block), planned, chunk);
      chunk.shared = *block;
      if (takers > 1) published_[{planned.flow, chunk.number}] = {*block, takers - 1};
    } else {
      if (reader.is_full()) {
        courier_->pages().own()->was_read(published->second.block);
      } else {
        chunk.shared = published->second.block;
      }
      if (--published->second.takers == 0) published_.erase(published);
    }
    if (chunk.shared) reader.note_sent();
  }

  void write_to(std::byte* to, const PlannedEdge& planned, const OutgoingChunk& chunk) {
    if (is_scaled(planned)) {
      scale(planned, chunk, to);
    } else {
      std::memcpy(to, source(planned, chunk.number), chunk.bytes);
    }
  }

  // To how many ranks of this host the chunk is still to go.
  std::uint32_t takers_of(const PlannedEdge& planned, std::uint32_t chunk) const {
    if (planned.phase == Phase::kReduce) return 1;
    std::uint32_t takers = 0;
    for (const std::int32_t place : plan().flows()[planned.flow].onward) {
      const Outgoing& edge = outgoing_[index(place)];
      takers += edge.reader != nullptr && !edge.is_read && edge.taken <= chunk;
    }
    return takers;
  }

  // A rank of this host does not get chunks long before another one: they take up pages until both have read them.
  bool is_ahead(const PlannedEdge& planned, const Outgoing& edge) const {
    if (edge.reader == nullptr || edge.is_read || planned.phase == Phase::kReduce) return false;
    return std::ranges::any_of(plan().flows()[planned.flow].onward, [this, &edge](std::int32_t place) {
      const Outgoing& other = outgoing_[index(place)];
      return other.reader != nullptr && !other.is_read && edge.taken >= other.freed + other.window;
    });
  }

  void offer_onward(const PlannedEdge& planned) {
    if (planned.phase == Phase::kReduce) return;
    for (const std::int32_t place : plan().flows()[planned.flow].onward) offer(place);
  }

  void offer(std::int32_t place) {
    Outgoing& edge = outgoing_[index(place)];
    if (edge.offered || edge.taken >= available(plan().outgoing()[index(place)])) return;
    if (edge.window != 0 && edge.taken - edge.freed >= edge.window) return;
    if (is_ahead(plan().outgoing()[index(place)], edge)) return;
    edge.offered = true;
    turns_[edge.turn].push((std::uint64_t{edge.taken} << 32) / edge.total, place);
    courier_->ready(turns_[edge.turn].lane);
  }

  void fold_ready(std::uint32_t number) {
    const PlannedFlow& flow = plan().flows()[number];
    std::uint32_t complete = incoming_[index(flow.children.front())].arrived;
    for (const std::int32_t child : flow.children) complete = std::min(complete, incoming_[index(child)].arrived);
    while (folded_[number] < complete) {
      fold(number, folded_[number]);
      const std::uint32_t done = ++folded_[number];
      const bool is_kept = flow.up >= 0 || request_.result == nullptr;  // in the slot of the first child
      for (std::size_t child = is_kept ? 1 : 0; child < flow.children.size(); ++child) {
        free_until(flow.children[child], done);
      }
    }
  }

  void fold(std::uint32_t number, std::uint32_t chunk) {
    const PlannedFlow& flow = plan().flows()[number];
    sources_.clear();
    if (request_.own != nullptr) sources_.push_back(in_own(number, chunk));
    for (const std::int32_t child : flow.children) sources_.push_back(came_to(child, chunk));
    const bool is_root = flow.up < 0;
    const bool into_result = is_root && request_.result != nullptr;
    run(Fold{request_.type, request_.reduction, sources_, request_.own != nullptr, request_.factor,
             is_root && request_.reduction == Reduction::kAvg ? request_.members : 0,
             into_result ? in_result(number, chunk) : slot(flow.children.front(), chunk),
             static_cast<std::size_t>(range(number).size_of(chunk))});
  }

  // Frees the staging memory of what a relay has passed on to all.
  void free_passed_on(const PlannedFlow& flow) {
    if (flow.down >= 0 ? !is_staged(flow) : flow.children.empty() || request_.result != nullptr) return;
    const std::int32_t holder = flow.down >= 0 ? flow.down : flow.children.front();
    std::uint32_t passed_on =
        flow.down >= 0 ? incoming_[index(holder)].arrived : folded_[plan().incoming()[index(holder)].flow];
    for (const std::int32_t onward : flow.onward) passed_on = std::min(passed_on, outgoing_[index(onward)].sent);
    free_until(holder, passed_on);
  }

  void free_until(std::int32_t place, std::uint32_t freed) {
    Incoming& edge = incoming_[index(place)];
    if (freed <= edge.freed) return;
    give_back(place, freed);
    edge.freed = freed;
    if (freed == edge.total) edge.ring.release();
    const bool is_needed =
        edge.reported + edge.window < edge.total && freed - edge.reported >= std::max(1U, edge.window / 2);
    if (edge.is_read ? freed < edge.total : !is_needed) return;
    edge.reported = freed;
    const PlannedEdge& planned = plan().incoming()[index(place)];
    courier_->grant(planned.lane, number_, planned.number, freed);
  }

  void give_back(std::int32_t place, std::uint32_t freed) {
    Incoming& edge = incoming_[index(place)];
    if (edge.views.empty()) return;
    for (std::uint32_t chunk = edge.freed; chunk < freed; ++chunk) {
      View& view = edge.views[chunk % edge.window];
      if (view.data != nullptr) courier_->give_back(plan().incoming()[index(place)].lane, view.block);
      view.data = nullptr;
    }
  }

  const Request request_;
  const std::uint64_t number_;
  const std::shared_ptr<Work> work_;
  const std::size_t element_;
  StagingPool* pool_ = nullptr;
  Courier* courier_ = nullptr;
  std::vector<Incoming> incoming_;
  std::vector<Outgoing> outgoing_;
  std::vector<Turn> turns_;
  std::vector<std::uint32_t> folded_;  // of each flow, how many chunks are added up
  std::map<std::pair<std::uint32_t, std::uint32_t>, Published> published_;  // by flow and chunk
  std::size_t edges_left_ = 0;
  std::vector<const std::byte*> sources_;  // scratch of `fold`
};

}  // namespace forestcoll::runtime
