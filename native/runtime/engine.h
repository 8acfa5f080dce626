// One rank's part in a group: its connections, and one thread that moves data and decides all failures, or a caller
// that does so in its place (`duty.h`). A caller that starts a small operation does what can be done at once itself.
//
// The first fault ends the group. It is sent to all neighbours with the rank at fault, and they pass it on, so every
// rank ends with the same message. A rank that closes in good order says so first.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "runtime/agreement.h"
#include "runtime/blame.h"
#include "runtime/dump.h"
#include "runtime/duty.h"
#include "runtime/inbox.h"
#include "runtime/journal.h"
#include "runtime/lanes.h"
#include "runtime/pages.h"
#include "runtime/vigil.h"

namespace forestcoll::runtime {

struct EngineOptions {
  int rank = 0;
  double timeout_seconds = 300;  // without progress of the oldest operation
  std::size_t staging_bytes_kept = std::size_t{64} << 20;
  std::string group;  // its name, for the dump
  std::string dump;   // the file to write when the group fails; none if it is empty
};

class Engine final : private Courier, private Operations, private ControlHandler {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  explicit Engine(const EngineOptions& options) : options_(options), pool_(options.staging_bytes_kept) {
    poller_.control(EPOLL_CTL_ADD, inbox_.bell(), EPOLLIN, nullptr);
  }
  ~Engine() override {
    if (home_.is_elsewhere()) {
      leave_to_parent();
    } else {
      close(0);
    }
  }

  // Makes pages that other ranks of this host read, in a group of `ranks` ranks, and returns their file, which is
  // closed by `start`. `reads_memory`: whether this rank reads in the memory of others, too, as far as it can.
  int make_pages(std::size_t ranks, std::size_t bytes, bool reads_memory) {
    pages_.create(ranks, bytes);
    reads_memory_ = reads_memory;
    return pages_.own()->file();
  }
  // The pages of another rank of this host; before its connections. The file stays open.
  void add_pages(int file, int peer) { pages_.add(file, peer, options_.rank); }

  // Each takes over a connected, non-blocking socket, which it closes in the end. All before `start`.
  void add_sender(int socket, int peer, std::int32_t lane) {
    lanes_.add(lane, std::make_unique<SendLane>(poller_, operations(), socket, peer, pages_.of(peer)));
  }
  void add_receiver(int socket, int peer, std::int32_t lane) {
    PeerPages* const pages = pages_.of(peer);
    if (pages != nullptr && reads_memory_ && pages->find_process(socket)) pages_.own()->note_reading(peer);
    lanes_.add(lane, std::make_unique<ReceiveLane>(poller_, operations(), socket, peer, lane, pages));
  }
  void add_control(int socket, int peer) {
    lanes_.controls[peer] = std::make_unique<ControlLane>(poller_, static_cast<ControlHandler&>(*this), socket, peer);
  }

  // Signals are left to the caller's threads.
  void start() {
    if (pages_.own() != nullptr) pages_.own()->close_file();
    if (pages_.has_peers() && pages_.ranks() <= std::thread::hardware_concurrency()) vigil_.allow();
    sigset_t all, usual;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &usual);
    thread_ = std::make_unique<std::thread>([this] { loop(); });
    pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  }

  std::shared_ptr<Work> post(Request request) {
    if (!home_.is_elsewhere()) return begin(std::move(request));
    auto refused = std::make_shared<Work>(0);
    refused->finish(kForked);
    return refused;
  }
  std::vector<JournalEntry> journal() const {
    return home_.is_elsewhere() ? std::vector<JournalEntry>{} : journal_.entries();
  }

  // Returns whether the operation ended within this time.
  bool wait(const Work& work, Seconds time) {
    if (work.is_done()) return true;
    Duty::Lock lock(duty_.state);
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
    duty_.wait(
        lock, end, [&work] { return work.is_done(); }, [this] { return !inbox_.is_closing(); },
        [this, &lock, end] {
          const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
          step(lock, static_cast<int>(std::clamp<std::int64_t>(left, 0, kTickMilliseconds)), &vigil_);
        });
    if (duty_.is_free() && !operations_.empty()) duty_.call_thread();
    return work.is_done();
  }

  // Ends the group within about `grace` seconds, whatever the other ranks do.
  void close(double grace) {
    if (home_.is_elsewhere()) return;
    if (thread_) {
      grace_ = Seconds(grace);
      inbox_.request_close();
      thread_->join();
      thread_.reset();
    }
    const Duty::Lock lock(duty_.state);
    lanes_.close();
    pages_ = {};
    poller_.shut();
    inbox_.shut();
  }

 private:
  struct Running {
    std::unique_ptr<Operation> operation;
    Clock::time_point begin, progress;
    bool is_announced = false;
  };
  static constexpr int kTickMilliseconds = 50;
  static constexpr auto kAnnounceAfter = std::chrono::milliseconds(50);
  static constexpr std::size_t kSmallBytes = std::size_t{1} << 20;  // of an operation that its caller begins
  static constexpr auto kDozesAfter = std::chrono::seconds(1);

  Operations& operations() { return *this; }

  std::shared_ptr<Work> begin(Request request) {
    const bool is_small = static_cast<std::size_t>(request.count) * size_of(request.type) <= kSmallBytes;
    auto work = inbox_.post(std::move(request));
    const Duty::Lock lock(duty_.state, std::try_to_lock);
    if (!is_small || !lock.owns_lock()) {
      inbox_.ring();
      if (lock.owns_lock() && duty_.is_free()) duty_.call_thread();
      return work;
    }
    now_ = Clock::now();
    guarded([this] {
      accept_posted();
      flush_ready();
      reap();
    });
    if (is_dozing_) inbox_.ring();
    return work;
  }

  // In a fork, the sockets are closed already, and the poller is the parent's.
  void leave_to_parent() {
    lanes_.forget();
    static_cast<void>(thread_.release());
  }

  void loop() {
    Duty::Lock lock(duty_.state);
    while (!inbox_.is_closing()) {
      if (duty_.is_wanted()) duty_.stand_by(lock);
      if (inbox_.is_closing()) break;
      is_dozing_ = operations_.empty() && now_ - accepted_ > kDozesAfter;
      step(lock, is_dozing_ ? -1 : kTickMilliseconds);
    }
    guarded([this] { say_goodbye(); });
    flush();
  }

  // Waits for data, at most so many milliseconds, and moves it.
  void step(Duty::Lock& lock, int most, Vigil* vigil = nullptr) {
    guarded([this, &lock, most, vigil] { poll(lock, most, vigil); });
    guarded([this] { tick(); });
  }

  // Runs a part of the work; a fault in it ends the group, and the thread goes on.
  void guarded(const std::function<void()>& step) {
    try {
      step();
    } catch (const Fault& fault) {
      fail(fault.culprit, fault.text);
    } catch (const PeerClosed& closed) {
      guarded([this, &closed] { peer_closed(closed.peer); });
    } catch (const std::exception& error) {
      fail(options_.rank, rank_text(options_.rank) + ": " + error.what());
    }
  }

  void poll(Duty::Lock& lock, int most, Vigil* vigil) {
    std::array<epoll_event, 64> events;
    const auto look = [this, &events](int milliseconds) { return poller_.wait(events, milliseconds); };
    lock.unlock();
    const int count = vigil == nullptr ? look(most) : vigil->wait(look, most);
    lock.lock();
    is_dozing_ = false;
    now_ = Clock::now();
    for (int number = 0; number < count; ++number) {
      const epoll_event& event = events[static_cast<std::size_t>(number)];
      if (event.data.ptr == nullptr) {
        inbox_.silence();
        accept_posted();
      } else {
        serve(*static_cast<Connection*>(event.data.ptr), event.events);
      }
      flush_ready();
    }
    reap();
  }

  void serve(Connection& connection, std::uint32_t events) {
    if (!connection.is_open()) return;
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) connection.on_readable();
    if ((events & EPOLLOUT) != 0 && connection.is_open()) connection.on_writable();
  }

  void flush_ready() {
    while (!ready_.empty()) {
      const std::int32_t lane = ready_.back();
      ready_.pop_back();
      lanes_.sender(lane).offered();
    }
  }

  void accept_posted() {
    accepted_ = now_;
    while (auto operation = inbox_.take()) {
      Operation& posted = *operation;
      operations_.emplace(posted.number(), Running{std::move(operation), now_, now_, false});
      journal_.begin(entry_of(posted));
      agreement_.note_posted(posted.number());
      for (Turn& turn : posted.turns()) lanes_.sender(turn.lane).enqueue(posted, turn);
      posted.start(pool_, *this);
    }
    flush_ready();
    for (auto& receiver : lanes_.receivers) {
      if (receiver && receiver->is_open()) receiver->unpark();
    }
    require_peers();
  }

  void reap() {
    for (auto running = operations_.begin(); running != operations_.end();) {
      Operation& operation = *running->second.operation;
      if (!operation.is_done()) {
        ++running;
        continue;
      }
      journal_.succeed(operation.number());
      operation.work().finish({});
      duty_.note_end();
      running = operations_.erase(running);
      if (!operations_.empty()) operations_.begin()->second.progress = now_;
    }
  }

  // --- What connections and operations ask for ---

  void ready(std::int32_t lane) override { ready_.push_back(lane); }

  void grant(std::int32_t lane, std::uint64_t operation, std::uint32_t edge, std::uint64_t freed) override {
    lanes_.receiver(lane).grant(operation, edge, freed);
  }

  HostPages& pages() override { return pages_; }
  PeerPages* pages_of_target(std::int32_t lane) override { return lanes_.sender(lane).pages(); }
  PeerPages* pages_of_source(std::int32_t lane) override { return lanes_.receiver(lane).pages(); }
  void give_back(std::int32_t lane, std::uint64_t block) override {
    pages_.own()->give_back(lanes_.receiver(lane).peer(), block);
  }

  Operation* find(std::uint64_t number) override {
    const auto found = operations_.find(number);
    return found == operations_.end() ? nullptr : found->second.operation.get();
  }

  void progressed(Operation& operation) override {
    const auto found = operations_.find(operation.number());
    if (found != operations_.end()) found->second.progress = now_;
  }

  bool compare(int peer, std::uint64_t number, const Descriptor& theirs) override {
    return agreement_.compare(peer, number, theirs);
  }

  // --- Faults ---

  void fail(int culprit, const std::string& text) {
    if (is_failed_) return;
    is_failed_ = true;
    if (pages_.own() != nullptr) pages_.own()->note_failure();
    now_ = Clock::now();
    auto refused = inbox_.refuse(text);
    lanes_.abandon_data();
    ready_.clear();
    const std::string_view cut = std::string_view(text).substr(0, kMostText);
    lanes_.tell_all(
        {FrameKind::kAbort, {}, static_cast<std::uint32_t>(cut.size()), 0, 0, 0, static_cast<std::uint64_t>(culprit)},
        cut);
    for (auto& operation : refused) journal_.begin(entry_of(*operation));
    for (auto& operation : refused) journal_.fail(operation->number(), operation->chunks_left(), {});
    for (auto& [number, running] : operations_) {
      journal_.fail(number, running.operation->chunks_left(), lanes_.awaited(*running.operation));
    }
    const std::string full = text + dumped({culprit, text});
    inbox_.amend(full);
    for (auto& [number, running] : operations_) running.operation->work().finish(full);
    for (auto& operation : refused) operation->work().finish(full);
    operations_.clear();
    duty_.note_end();
  }

  static JournalEntry entry_of(const Operation& operation) {
    const Request& request = operation.request();
    return {operation.number(), request.descriptor, request.collective, request.type, request.count, {}, {}, {}, 0, {}};
  }

  // Writes the dump, and returns what the message says of it.
  std::string dumped(const Fault& fault) const {
    if (options_.dump.empty()) return {};
    Dump dump{options_.group, options_.rank, options_.timeout_seconds, fault, journal_.entries(), {}};
    for (const auto& [peer, lane] : lanes_.controls) {
      const bool has_answered = lane->last_pong != Clock::time_point{};
      const Seconds before = now_ - lane->last_pong;
      dump.peers.push_back({peer, lost_.contains(peer), has_answered, lane->posted, before.count()});
    }
    const bool is_written = write_dump(options_.dump, dump);
    return (is_written ? "; the last operations are in " : "; the dump could not be written to ") + options_.dump;
  }

  void peer_closed(int peer) {
    ControlLane& control = *lanes_.controls.at(peer);
    control.hear_out();
    for (auto& lane : lanes_.senders) {
      if (lane && lane->peer() == peer) lane->take_last_credits();
    }
    for (auto& lane : lanes_.receivers) {
      if (!lane || lane->peer() != peer) continue;
      lane->drain();
      flush_ready();
    }
    lost_.insert(peer);
    reap();
    if (!control.has_left) throw Fault{peer, at_oldest(control.loss())};
    require_peers();
  }

  // What a rank sent before it left may still wait to be read; a connection that is closed brings nothing more.
  void require_peers() {
    if (lost_.empty()) return;
    for (auto& [number, running] : operations_) {
      const auto [incoming, outgoing] = running.operation->lanes_waited_for();
      for (const std::int32_t lane : incoming) require_open(*running.operation, lanes_.receiver(lane));
      for (const std::int32_t lane : outgoing) require_open(*running.operation, lanes_.sender(lane));
    }
  }

  void require_open(const Operation& operation, const Connection& lane) const {
    if (lane.is_open()) return;
    throw Fault{lane.peer(), operation.label() + ": " + rank_text(lane.peer()) + " closed the group before it ended"};
  }

  std::string at_oldest(const std::string& text) const {
    return operations_.empty() ? text : operations_.begin()->second.operation->label() + ": " + text;
  }

  std::vector<int> waited_for(const Operation& operation) const {
    std::set<int> peers;
    for (const Awaited& each : lanes_.awaited(operation)) peers.insert(each.rank);
    return {peers.begin(), peers.end()};
  }

  void on_control(ControlLane& lane, const FrameHeader& header, std::string_view payload) override {
    switch (header.kind) {
      case FrameKind::kAbort:
        throw Fault{static_cast<int>(header.value), relayed(lane.peer(), payload)};
      case FrameKind::kBye:
        lane.has_left = true;
        return;
      case FrameKind::kPing:
        return lane.send(FrameHeader{FrameKind::kPong, {}, 0, oldest(), 0, 0, agreement_.posted()});
      case FrameKind::kPong:
        lane.last_pong = now_;
        lane.posted = header.value;
        lane.oldest = header.operation;
        return;
      case FrameKind::kOpen:
        return on_announced(lane, header, payload);
      default:
        throw Fault{lane.peer(), rank_text(lane.peer()) + " sent a frame of an unknown kind"};
    }
  }

  std::uint64_t oldest() const { return operations_.empty() ? kNoOperation : operations_.begin()->first; }

  static std::string relayed(int peer, std::string_view text) {
    const bool is_named = text.ends_with(')') && text.find("(reported by rank ") != std::string_view::npos;
    return printable(text) + (is_named ? "" : " (reported by " + rank_text(peer) + ")");
  }

  // --- Time ---

  // An operation that takes long is announced to all neighbours: ranks that wait for each other in different operations
  // would not find out otherwise.
  void announce(Running& running) {
    running.is_announced = true;
    const Descriptor& descriptor = running.operation->descriptor();
    const FrameHeader header{FrameKind::kOpen, {}, sizeof descriptor, running.operation->number(), 0, 0, 0};
    const std::string_view payload{reinterpret_cast<const char*>(&descriptor), sizeof descriptor};
    lanes_.tell_all(header, payload);
  }

  void on_announced(ControlLane& lane, const FrameHeader& header, std::string_view payload) {
    Descriptor descriptor;
    if (payload.size() != sizeof descriptor)
      throw Fault{lane.peer(), rank_text(lane.peer()) + " sent a malformed frame"};
    std::memcpy(&descriptor, payload.data(), sizeof descriptor);
    agreement_.note_announced(lane.peer(), header.operation, descriptor);
  }

  void tick() {
    if (operations_.empty()) return;
    for (auto& [number, running] : operations_) {
      if (!running.is_announced && now_ - running.begin > kAnnounceAfter) announce(running);
    }
    Running& oldest = operations_.begin()->second;
    const Seconds quiet = now_ - oldest.progress;
    if (quiet.count() < options_.timeout_seconds / 2) return;
    const std::vector<int> peers = waited_for(*oldest.operation);
    if (quiet.count() >= options_.timeout_seconds) {
      blame({*oldest.operation, peers, lanes_, options_.rank, options_.timeout_seconds, quiet, now_});
    }
    for (const int peer : peers) lanes_.controls.at(peer)->send(FrameHeader{FrameKind::kPing, {}, 0, 0, 0, 0, 0});
  }

  // --- The end ---

  void say_goodbye() {
    if (!operations_.empty()) {
      throw Fault{options_.rank, at_oldest(rank_text(options_.rank) + " closed the group before it ended")};
    }
    inbox_.refuse("the group is closed");
    lanes_.tell_all({FrameKind::kBye, {}, 0, 0, 0, 0, 0});
  }

  // Waits until the other ends have everything, as closing a socket with unread input drops what is still unsent.
  void flush() {
    const auto end = Clock::now() + grace_;
    while (Clock::now() < end && !lanes_.is_flushed()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (auto& [peer, lane] : lanes_.controls) {
        if (lane->is_open()) guarded([&lane = lane] { lane->on_writable(); });
      }
      for (auto& lane : lanes_.receivers) {
        if (lane && lane->is_open()) guarded([&lane = lane] { lane->on_writable(); });
      }
    }
    for (auto& operation : inbox_.refuse("the group is closed")) operation->work().finish("the group is closed");
    duty_.note_end();
  }

  const EngineOptions options_;
  const Home home_;
  Poller poller_;
  Inbox inbox_;
  Journal journal_;
  Agreement agreement_{options_.rank, journal_};
  StagingPool pool_;
  HostPages pages_;
  bool reads_memory_ = false;
  std::map<std::uint64_t, Running> operations_;
  Lanes lanes_;
  std::vector<std::int32_t> ready_;  // lanes to be served
  std::set<int> lost_;               // ranks whose connections are closed
  Duty duty_;               // its lock guards everything above but the inbox and the journal, which have their own
  bool is_dozing_ = false;  // whether the thread waits without a limit, as nothing runs
  Clock::time_point now_ = Clock::now(), accepted_ = now_;
  Seconds grace_{0};
  Vigil vigil_;  // of callers
  bool is_failed_ = false;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace forestcoll::runtime
