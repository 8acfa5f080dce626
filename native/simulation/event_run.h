// A discrete-event simulation of a program.
//
// Each block executes its instructions in order. An instruction starts when everything that it waits for has happened,
// and first takes the overhead. Then its data is transferred to the other rank over the links between them; all active
// transfers share the links fairly. The block continues when the last byte has left, and the data arrives one latency
// later. A block that reads the memory of another rank waits for two latencies more: that of its request, and that of
// the data. On a PORT channel, a helper sends instead of the block, one request after the other. A message occupies a
// slot of its channel until it is received. Data that stays on a rank takes only the overhead, because memory is
// assumed to be fast; an instruction that adds up data also takes the time of the reduction.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/observer.h"
#include "simulation/event_program.h"
#include "simulation/transfers.h"

namespace forestcoll {

// The parameters of a run, in seconds and bytes.
struct EventCosts {
  double launch, overhead;
  double reduction;  // seconds for each byte that is added
  double chunk_bytes;
};

// What happened. The columns of actions have one entry for each executed instruction that moves data, in the order in
// which they ended.
struct EventResult {
  bool is_complete = false;  // whether all blocks came to their ends
  double seconds = 0;        // the time of the last event
  std::vector<double> flow_bytes;
  std::vector<Index> action_blocks, action_instructions;  // an instruction by its number in its block
  std::vector<double> action_begins, action_ends;
};

class EventRun {
 public:
  EventRun(const EventProgram& program, const EventCosts& costs)
      : program_(program), costs_(costs), now_(costs.launch), blocks_(program.blocks()),
        ports_(program.channels.size()), arrived_(program.channels.size(), 0), signals_(program.channels.size(), 0),
        semaphores_(program.semaphores), at_barriers_(program.barriers), is_written_(program.cells, false),
        keys_(program), waiting_blocks_(keys_.end), transfers_(program.limits) {
    for (const auto& channel : program.channels) slots_.push_back(channel.slots);
    for (Index block = 0; block < program.blocks(); ++block) {
      blocks_[block].end = static_cast<Index>(program.executed(block));
      ready_.push_back(block);
    }
    result_.flow_bytes.assign(program.flows.size(), 0.0);
  }

  EventResult run(Observer& observer) {
    while (true) {
      for (; !ready_.empty(); ready_.pop_front()) advance(ready_.front());
      if (events_.empty() && transfers_.empty()) break;
      observer.pulse();
      next();
    }
    result_.seconds = now_;
    result_.is_complete = std::ranges::all_of(blocks_, [](const Block& block) { return block.place == block.end; });
    return std::move(result_);
  }

 private:
  // How many instructions it has executed and will execute; its next instruction, the next loop or the one that it is
  // in, and the round of this loop; whether the instruction has begun, and how many of its parts are not done.
  struct Block {
    Index place = 0, end = 0;
    Index next = 0, loop = 0, round = 0;
    bool is_busy = false;
    Index parts = 0;
    double begin = 0.0;
  };

  // The helper of a channel: its requests, which are blocks whose data it moves, or kNone for a signal; and the blocks
  // that wait until there are none left.
  struct Port {
    std::deque<Index> requests;  // instructions
    bool is_busy = false;
    std::vector<Index> flushing;
  };

  // The transfers of an instruction that are not done; `port` is the channel whose helper moves them, or kNone.
  struct Operation {
    Index block, instruction, port, left;
  };

  enum class Kind { kSend, kArrive, kRead, kSignal };

  // kSend: block `first` starts its transfers. kArrive: data of instruction `first` arrives at rank `second`. kRead:
  // data that operation `first` reads arrives. kSignal: a signal over channel `first` arrives.
  struct Event {
    double time;
    std::int64_t number;
    Kind kind;
    Index first, second;

    bool operator>(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };

  // The numbers of all things that blocks wait for.
  struct Keys {
    Index step = 0, signal, semaphore, message, packets, slot, barrier, end;

    explicit Keys(const EventProgram& program) {
      const auto channels = static_cast<Index>(program.channels.size());
      signal = step + program.blocks();
      semaphore = signal + channels;
      message = semaphore + static_cast<Index>(program.semaphores.size());
      packets = message + channels;
      slot = packets + program.ranks;
      barrier = slot + channels;
      end = barrier + program.barriers;
    }
  };

  Index instruction_of(Index block) const { return program_.block_starts[block] + blocks_[block].next; }

  // Goes to the next instruction of a block.
  void step(Index number) {
    Block& block = blocks_[number];
    ++block.place;
    ++block.next;
    const auto loops = program_.loops[number].subspan(3 * block.loop);
    if (loops.empty() || block.next < loops[0] + loops[1]) return;
    if (++block.round < loops[2]) {
      block.next = loops[0];
    } else {
      block.round = 0;
      ++block.loop;
    }
  }

  // Processes the next event: a timed one, or the end of transfers.
  void next() {
    const double due = events_.empty() ? kNever : events_.top().time;
    const double end = transfers_.next_end();
    const double passed = std::min(due - now_, end);
    if (passed == kNever) throw std::logic_error("a transfer has no bandwidth");
    const auto& ended = transfers_.empty() ? none_ : transfers_.advance(passed);
    now_ = passed == due - now_ ? due : now_ + passed;
    for (const auto& transfer : ended) end_transfer(transfer);
    while (!events_.empty() && events_.top().time <= now_) {
      const Event event = events_.top();
      events_.pop();
      switch (event.kind) {
        case Kind::kSend:
          send(event.first);
          break;
        case Kind::kArrive:
          arrive(event.first, event.second);
          break;
        case Kind::kRead:
          complete_part(event.first);
          break;
        case Kind::kSignal:
          ++signals_[event.first];
          wake(keys_.signal + event.first);
          break;
      }
    }
  }

  void add_event(double time, Kind kind, Index first, Index second = kNone) {
    events_.push({time, count_++, kind, first, second});
  }

  void wake(Index key) {
    auto& waiting = waiting_blocks_[key];
    ready_.insert(ready_.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }

  // Starts the next instruction of a block, if everything that it waits for has happened.
  void advance(Index number) {
    Block& block = blocks_[number];
    if (block.is_busy || block.place == block.end) return;
    const Index place = instruction_of(number);
    const Index awaited = awaited_by(number, place);
    if (awaited != kNone) {
      waiting_blocks_[awaited].push_back(number);
      return;
    }
    consume(place);
    block.is_busy = true;
    block.begin = now_;
    const auto& instruction = program_.instructions[place];
    double overhead = instruction.moves ? costs_.overhead : 0.0;
    if (instruction.added) overhead += costs_.reduction * (instruction.added * costs_.chunk_bytes);
    if (overhead > 0) {
      add_event(now_ + overhead, Kind::kSend, number);
    } else {
      send(number);
    }
  }

  // Returns the key of something that the instruction waits for, or kNone.
  Index awaited_by(Index block, Index place) {
    const auto after = program_.after[place];
    for (std::size_t each = 0; each < after.size(); each += 2) {
      const Index other = after[each];
      const Index last = after[each + 1] + blocks_[block].round * program_.round_length(other);
      if (blocks_[other].place <= last) return keys_.step + other;
    }
    for (const Index channel : program_.waits[place]) {
      if (signals_[channel] == 0) return keys_.signal + channel;
    }
    for (const Index semaphore : program_.acquires[place]) {
      if (semaphores_[semaphore] == 0) return keys_.semaphore + semaphore;
    }
    for (const Index channel : program_.received[place]) {
      if (arrived_[channel] == 0) return keys_.message + channel;
    }
    const auto reads = program_.reads[place];
    for (std::size_t each = 0; each < reads.size(); each += 3) {
      for (Index cell = reads[each + 1]; cell < reads[each + 1] + reads[each + 2]; ++cell) {
        if (!is_written_[cell]) return keys_.packets + reads[each];
      }
    }
    for (const Index channel : program_.sent[place]) {
      if (slots_[channel] == 0) return keys_.slot + channel;
    }
    return reach_barrier(block, place);
  }

  Index reach_barrier(Index block, Index place) {
    const auto& instruction = program_.instructions[place];
    if (instruction.barrier == kNone) return kNone;
    auto& there = at_barriers_[instruction.barrier];
    if (static_cast<Index>(there.size()) + 1 < instruction.barrier_blocks) {
      there.push_back(block);
      return keys_.barrier + instruction.barrier;
    }
    for (const Index other : there) {
      step(other);
      wake(keys_.step + other);
    }
    there.clear();
    wake(keys_.barrier + instruction.barrier);
    return kNone;
  }

  // Consumes the signals, semaphores, messages and slots that the instruction waited for.
  void consume(Index place) {
    for (const Index channel : program_.waits[place]) --signals_[channel];
    for (const Index semaphore : program_.acquires[place]) --semaphores_[semaphore];
    for (const Index channel : program_.received[place]) --arrived_[channel];
    for (const Index channel : program_.sent[place]) {
      if (slots_[channel] != kNone) --slots_[channel];
    }
  }

  // Starts the transfers of the next instruction of a block; it is done when the last of them is done.
  void send(Index block) {
    const Index place = instruction_of(block);
    const Index port = program_.instructions[place].port;
    if (port == kNone) {
      if (!start_transfers(block, place, kNone)) finish(block, place);
      return;
    }
    ports_[port].requests.push_back(place);
    serve(port);
    finish(block, place);
  }

  // Starts the transfers of an instruction; returns whether there are any.
  bool start_transfers(Index block, Index place, Index port) {
    const auto flows = program_.transfers[place];
    if (flows.empty()) {
      const auto writes = program_.writes[place];
      for (std::size_t each = 0; each < writes.size(); each += 3) write(writes.subspan(each, 3));
      return false;
    }
    const double size = program_.instructions[place].chunks * costs_.chunk_bytes;
    const auto operation = static_cast<Index>(operations_.size());
    operations_.push_back({block, place, port, static_cast<Index>(flows.size())});
    for (const Index flow : flows) {
      result_.flow_bytes[flow] += size;
      transfers_.start(flow, size, operation);
    }
    return true;
  }

  void end_transfer(const Transfers::Transfer& transfer) {
    const auto& flow = program_.flows[transfer.flow];
    add_event(now_ + flow.latency, Kind::kArrive, operations_[transfer.operation].instruction, flow.target);
    if (flow.delay > 0) {
      add_event(now_ + flow.delay, Kind::kRead, transfer.operation);
    } else {
      complete_part(transfer.operation);
    }
  }

  // One of the transfers of an operation is done.
  void complete_part(Index number) {
    Operation& operation = operations_[number];
    if (--operation.left > 0) return;
    if (operation.port == kNone) {
      finish(operation.block, operation.instruction);
    } else {
      ports_[operation.port].is_busy = false;
      serve(operation.port);
    }
  }

  void arrive(Index place, Index target) {
    for (const Index channel : program_.sent[place]) {
      if (program_.channels[channel].target != target) continue;
      ++arrived_[channel];
      wake(keys_.message + channel);
    }
    const auto writes = program_.writes[place];
    for (std::size_t each = 0; each < writes.size(); each += 3) {
      if (writes[each] == target) write(writes.subspan(each, 3));
    }
  }

  void write(std::span<const Index> packets) {
    for (Index cell = packets[1]; cell < packets[1] + packets[2]; ++cell) is_written_[cell] = true;
    wake(keys_.packets + packets[0]);
  }

  void finish(Index block, Index place) {
    for (const Index channel : program_.received[place]) {
      if (slots_[channel] == kNone) continue;
      ++slots_[channel];
      wake(keys_.slot + channel);
    }
    for (const Index channel : program_.signals[place]) signal(channel);
    blocks_[block].parts = 1;
    for (const Index channel : program_.flushes[place]) {
      Port& port = ports_[channel];
      if (!port.is_busy && port.requests.empty()) continue;
      ++blocks_[block].parts;
      port.flushing.push_back(block);
    }
    count_down(block);
  }

  // One part of the next instruction of a block is done.
  void count_down(Index number) {
    Block& block = blocks_[number];
    if (--block.parts > 0) return;
    const Index place = instruction_of(number);
    for (const Index semaphore : program_.releases[place]) {
      ++semaphores_[semaphore];
      wake(keys_.semaphore + semaphore);
    }
    if (program_.instructions[place].moves) {
      result_.action_blocks.push_back(number);
      result_.action_instructions.push_back(block.place);
      result_.action_begins.push_back(block.begin);
      result_.action_ends.push_back(now_);
    }
    block.is_busy = false;
    step(number);
    wake(keys_.step + number);
    ready_.push_back(number);
  }

  void signal(Index channel) {
    if (is_port(channel)) {
      ports_[channel].requests.push_back(kNone);
      serve(channel);
    } else {
      send_signal(channel);
    }
  }

  bool is_port(Index channel) const { return program_.channels[channel].is_port; }

  void send_signal(Index channel) { add_event(now_ + program_.channels[channel].latency, Kind::kSignal, channel); }

  // Starts the next requests of the helper of a channel, until one takes time.
  void serve(Index channel) {
    Port& port = ports_[channel];
    while (!port.is_busy && !port.requests.empty()) {
      const Index request = port.requests.front();
      port.requests.pop_front();
      if (request == kNone) {
        send_signal(channel);
      } else {
        port.is_busy = start_transfers(kNone, request, channel);
      }
    }
    if (port.is_busy) return;
    const std::vector<Index> flushing = std::exchange(port.flushing, {});
    for (const Index block : flushing) count_down(block);
  }

  const EventProgram& program_;
  const EventCosts costs_;
  double now_;
  std::vector<Block> blocks_;
  std::vector<Port> ports_;
  std::vector<Index> arrived_, signals_, slots_, semaphores_;
  std::vector<std::vector<Index>> at_barriers_;
  std::vector<bool> is_written_;
  const Keys keys_;
  std::vector<std::vector<Index>> waiting_blocks_;
  Transfers transfers_;
  const std::vector<Transfers::Transfer> none_;
  std::deque<Index> ready_;
  std::deque<Operation> operations_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t count_ = 0;
  EventResult result_;
};

}  // namespace forestcoll
