// A fast proof that a program comes to its end and computes the right data, whatever the speed of its ranks.
//
// The run is that of `programs/interpreter/order.py`: one order is enough. The data is that of
// `programs/interpreter/execution.py`. The order of accesses is a part of that of `programs/interpreter/clocks.py`: a
// block knows
//
// - what the instructions of its own rank knew that it depended on;
// - by a signal, which instructions of the block or the helper that sent it are done, and that its rank has started;
//   nothing that others had told the sender;
// - if its program consists of messages and accesses to the own memory: by a received sum that has the contribution of
//   its own rank, what was known when the rank first sent this contribution, as it was sent before it came back.
//
// All of this holds in every run. If it does not order all accesses of a cell, nothing is proven. The work is nearly
// linear in the number of instructions, and the memory in the number of cells and blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpreter/known.h"
#include "interpreter/program.h"
#include "interpreter/rank_sets.h"

namespace forestcoll::interpret {

// Values in their order; one without values takes little memory.
template <class Item>
class Queue {
 public:
  bool empty() const { return first_ == items_.size(); }
  void push(Item item) { items_.push_back(std::move(item)); }
  Item pop() {
    Item item = std::move(items_[first_++]);
    if (2 * first_ >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return item;
  }

 private:
  std::vector<Item> items_;
  std::size_t first_ = 0;
};

// The content of a cell: a sum of the contributions of a set of ranks to a chunk of the data.
struct Value {
  RankSets::Number set;
  Word chunk;
};

// The memory of all ranks as one row of cells, and its content before and after.
struct Memory {
  std::span<const std::int64_t> starts;  // for each rank, the first cell of its input, output and scratch buffer
  std::span<const std::int64_t> ends;    // for each rank, one past its last cell
  bool in_place;
  std::span<const Word> first_sets, first_chunks;  // for each cell
  std::span<const std::int64_t> last_cells;        // the cells that must have a certain content at the end
  std::span<const Word> last_sets, last_chunks;    // that content
};

class Proof {
 public:
  Proof(const Program& program, const Places& places, const Form& form, const Memory& memory, bool reduces)
      : program_(program), places_(places), form_(form), memory_(memory), reduces_(reduces),
        helpers_(static_cast<Actor>(program.blocks())), starts_(helpers_ + static_cast<Actor>(program.channels.size())),
        sets_(static_cast<std::size_t>(program.ranks())), blocks_(program.blocks()), channels_(program.channels.size()),
        cells_(memory.first_sets.size()), needed_(places.size()) {
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      cells_[cell].value = {memory.first_sets[cell], memory.first_chunks[cell]};
    }
  }

  // Whether the program is proven to be right. `poll` is called now and then.
  template <class Poll>
  bool holds(Poll&& poll) {
    if (!is_plain()) return false;
    for (std::size_t block = 0; block < blocks_.size(); ++block) ready_.push(block);
    try {
      while (!ready_.empty()) {
        const std::size_t block = ready_.pop();
        blocks_[block].queued = false;
        poll();
        advance(block);
      }
    } catch (const NotProven&) {
      return false;
    }
    return has_ended() && all_arrived() && outputs_hold();
  }

 private:
  struct NotProven {};
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Block {
    Word done = 0;   // instructions
    Word moved = 0;  // pieces that the next instruction has moved
    bool queued = true;
    Tick tick = 0;  // the number of the present instruction
    Tick met = 0;   // the last instruction before which all threads met
    Known known;    // what is before the present instruction
    Known later;    // what is before the next instruction that the threads meet for
  };

  struct Signal {
    Actor block;
    Tick done;    // the instructions of the block that are before the signal
    Tick helped;  // those of the helper of the channel
    bool relaxed;
  };

  struct ChannelState {
    Word pieces = 0;
    Queue<Signal> signals;
    Queue<std::vector<Value>> messages;
    std::size_t waits_for_signal = kNone, waits_for_chunks = kNone, waits_for_room = kNone;  // blocks
    Tick helped = 0;                                                                         // the work of its helper
  };

  struct Access {
    Actor actor = -1;  // -1: the start of the rank for writes, nobody for reads
    Tick tick = 0;
  };

  struct Cell {
    Value value;
    Access writer, reader;
  };

  // What others receive from an instruction that they depend on.
  struct Kept {
    Known known;
    Tick own;
  };

  // The first time that a rank sent its contribution to a chunk.
  struct Sent {
    Actor block;
    Tick tick;
    Known known;
    bool is_first;  // whether all later times are known to be after it
  };

  // Who does an access: a block, or for its PORT channel the helper.
  struct Doer {
    std::size_t block;
    Actor actor;
    Tick tick;
  };

  // Programs either consist of messages and accesses to the own memory, or of signals and accesses to any memory.
  bool is_plain() {
    if (program_.ranks() < 2) return false;
    bool messages = false, others = false;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const Word rank = program_.block_ranks[block];
      for (Word number = 0; number < program_.block_lengths[block]; ++number) {
        const Instruction each = places_.at(places_.number(block, number));
        messages |= each.received() >= 0 || each.sent() >= 0;
        others |= !each.meets() || !each.waits().empty() || !each.signals().empty() || !each.flushes().empty();
        for (std::size_t place = 0; place < each.sources(); ++place) {
          if (each.source(place).is_message()) continue;
          if (each.source(place).rank != rank) return false;
        }
        for (std::size_t place = 0; place < each.targets(); ++place) {
          others |= !each.target(place).is_message() && each.target(place).rank != rank;
        }
        for (std::size_t after = 0; after < each.dependencies(); ++after) ++needed_[awaited(rank, each.after(after))];
      }
    }
    return !messages || !others;
  }

  std::size_t awaited(Word rank, const Dependency& after) const {
    return places_.number(block_of(rank, after), after.instruction);
  }
  std::size_t block_of(Word rank, const Dependency& after) const {
    return form_.first_block(rank) + static_cast<std::size_t>(after.block);
  }

  // Does as many instructions of a block as possible.
  void advance(std::size_t block) {
    Block& state = blocks_[block];
    while (state.done < program_.block_lengths[block]) {
      const std::size_t number = places_.number(block, state.done);
      const Instruction instruction = places_.at(number);
      if (state.moved == 0 && !can_begin(block, instruction)) return;
      if (!moved_all(block, instruction)) return;
      execute(block, number, instruction);
      ++state.done;
      state.moved = 0;
      wake_dependents(number);
    }
  }

  bool can_begin(std::size_t block, const Instruction& instruction) {
    const Word rank = program_.block_ranks[block];
    for (std::size_t after = 0; after < instruction.dependencies(); ++after) {
      const Dependency wanted = instruction.after(after);
      if (blocks_[block_of(rank, wanted)].done <= wanted.instruction) {
        sleepers_.emplace(awaited(rank, wanted), block);
        return false;
      }
    }
    for (const Word channel : instruction.waits()) {
      ChannelState& state = channel_at(channel);
      if (state.signals.empty()) {
        state.waits_for_signal = block;
        return false;
      }
    }
    return true;
  }

  // Moves as many pieces of the messages of an instruction as possible; returns whether all have moved.
  bool moved_all(std::size_t block, const Instruction& instruction) {
    const Word received = instruction.received(), sent = instruction.sent();
    if (received < 0 && sent < 0) return true;
    const Word pieces = (instruction.chunks() - 1) / program_.slot_chunks + 1;
    Word steps = pieces - blocks_[block].moved;
    std::size_t* sleeper = nullptr;
    if (received >= 0 && channel_at(received).pieces < steps) {
      steps = channel_at(received).pieces;
      sleeper = &channel_at(received).waits_for_chunks;
    }
    if (sent >= 0 && program_.slots > 0 && program_.slots - channel_at(sent).pieces < steps) {
      steps = program_.slots - channel_at(sent).pieces;
      sleeper = &channel_at(sent).waits_for_room;
    }
    blocks_[block].moved += steps;
    if (received >= 0 && steps > 0) {
      channel_at(received).pieces -= steps;
      wake(channel_at(received).waits_for_room);
    }
    if (sent >= 0 && steps > 0) {
      channel_at(sent).pieces += steps;
      wake(channel_at(sent).waits_for_chunks);
    }
    if (sleeper != nullptr) *sleeper = block;
    return sleeper == nullptr;
  }

  void wake(std::size_t& sleeper) {
    if (sleeper == kNone) return;
    if (!std::exchange(blocks_[sleeper].queued, true)) ready_.push(sleeper);
    sleeper = kNone;
  }

  void wake_dependents(std::size_t number) {
    const auto [first, last] = sleepers_.equal_range(number);
    for (auto each = first; each != last; ++each) {
      std::size_t sleeper = each->second;
      wake(sleeper);
    }
    sleepers_.erase(first, last);
  }

  // Does an instruction whose turn has come: order, data, and what it tells others.
  void execute(std::size_t block, std::size_t number, const Instruction& instruction) {
    Block& state = blocks_[block];
    begin(state, instruction.meets());
    wait(block, instruction);
    if (instruction.moves()) move(block, instruction);
    signal(block, instruction);
    if (needed_[number] > 0) kept_.emplace(number, Kept{state.known, done(state)});
  }

  void begin(Block& state, bool meets) {
    ++state.tick;
    if (!meets) return;
    state.met = state.tick;
    state.known.learn(state.later);
    state.later.clear();
  }

  // How many instructions of a block are before what it tells others now: all, if its threads met for the present one.
  static Tick done(const Block& state) { return state.met == state.tick ? state.tick : state.met - 1; }

  void wait(std::size_t block, const Instruction& instruction) {
    Block& state = blocks_[block];
    const Word rank = program_.block_ranks[block];
    for (std::size_t after = 0; after < instruction.dependencies(); ++after) {
      const Dependency wanted = instruction.after(after);
      const std::size_t number = awaited(rank, wanted);
      const auto kept = kept_.find(number);
      state.known.learn(kept->second.known);
      state.known.learn(static_cast<Actor>(block_of(rank, wanted)), kept->second.own);
      if (--needed_[number] == 0) kept_.erase(kept);
    }
    Known& told = instruction.moves() ? state.known : state.later;
    for (const Word channel : instruction.waits()) {
      ChannelState& from = channel_at(channel);
      if (from.signals.empty()) throw NotProven();  // it waits for one channel twice
      const Signal signal = from.signals.pop();
      told.learn(starts_ + program_.channels[static_cast<std::size_t>(channel)].source, 1);
      if (signal.relaxed || instruction.relaxed()) continue;
      told.learn(signal.block, signal.done);
      if (signal.helped > 0) told.learn(helpers_ + channel, signal.helped);
    }
  }

  void signal(std::size_t block, const Instruction& instruction) {
    Block& state = blocks_[block];
    for (const Word channel : instruction.signals()) {
      ChannelState& to = channel_at(channel);
      const bool port = program_.channels[static_cast<std::size_t>(channel)].kind == Kind::port;
      to.signals.push({static_cast<Actor>(block), port ? state.met - 1 : done(state), port ? ++to.helped : 0,
                       instruction.relaxed()});
      wake(to.waits_for_signal);
    }
    Known& told = instruction.moves() ? state.known : state.later;
    for (const Word channel : instruction.flushes()) told.learn(helpers_ + channel, channel_at(channel).helped);
  }

  void move(std::size_t block, const Instruction& instruction) {
    Doer doer{block, static_cast<Actor>(block), blocks_[block].tick};
    const Word channel = instruction.channel();
    if (channel >= 0 && program_.channels[static_cast<std::size_t>(channel)].kind == Kind::port) {
      doer = {block, helpers_ + channel, ++channel_at(channel).helped};
    }
    std::vector<Value> values, received;
    for (std::size_t number = 0; number < instruction.sources(); ++number) {
      const Place source = instruction.source(number);
      std::vector<Value> more = source.is_message() ? receive(source) : read(doer, source);
      if (source.is_message() && reduces_) received = more;
      if (number == 0) {
        values = std::move(more);
      } else {
        add(values, more);
      }
    }
    if (stays(instruction)) return;
    for (std::size_t number = 0; number < instruction.targets(); ++number) {
      const Place target = instruction.target(number);
      if (target.is_message()) {
        send(doer, target.what, values);
      } else {
        write(doer, target, values, received);
      }
    }
  }

  // Whether an instruction copies chunks onto themselves, as may happen in place; it changes nothing.
  bool stays(const Instruction& instruction) const {
    if (instruction.sources() > 1 || instruction.targets() > 1) return false;
    const Place source = instruction.source(0), target = instruction.target(0);
    return !source.is_message() && !target.is_message() && first_cell(source) == first_cell(target);
  }

  std::size_t first_cell(const Place& span) const {
    return static_cast<std::size_t>(memory_.starts[static_cast<std::size_t>(3 * span.rank + span.what)] + span.offset);
  }

  std::vector<Value> receive(const Place& source) {
    Queue<std::vector<Value>>& waiting = channel_at(source.what).messages;
    if (waiting.empty()) throw NotProven();
    std::vector<Value> values = waiting.pop();
    if (values.size() != static_cast<std::size_t>(source.count)) throw NotProven();
    return values;
  }

  std::vector<Value> read(const Doer& doer, const Place& source) {
    const auto count = static_cast<std::size_t>(source.count);
    std::vector<Value> values;
    values.reserve(count);
    const std::size_t first = first_cell(source);
    for (std::size_t cell = first; cell < first + count; ++cell) {
      Cell& here = cells_[cell];
      if (here.value.set == RankSets::kNothing || !is_after_write(doer, here, source.rank)) throw NotProven();
      note_reader(doer, cell);
      values.push_back(here.value);
    }
    return values;
  }

  void add(std::vector<Value>& values, const std::vector<Value>& others) {
    for (std::size_t place = 0; place < values.size(); ++place) {
      if (values[place].chunk != others[place].chunk) throw NotProven();
      values[place].set = sets_.sum(values[place].set, others[place].set);
      if (values[place].set == RankSets::kOverlap) throw NotProven();
    }
  }

  // Whether an earlier access is before the present one of `doer`.
  bool is_before(const Access& access, const Doer& doer) const {
    const Block& state = blocks_[doer.block];
    if (access.actor == doer.actor)
      return doer.actor >= helpers_ || access.tick < state.met || access.tick == doer.tick;
    if (access.actor == static_cast<Actor>(doer.block)) return access.tick < state.met;
    return state.known.of(access.actor) >= access.tick;
  }

  bool is_after_write(const Doer& doer, const Cell& cell, Word owner) const {
    if (cell.writer.actor >= 0) return is_before(cell.writer, doer);
    return program_.block_ranks[doer.block] == owner || blocks_[doer.block].known.of(starts_ + owner) > 0;
  }

  void note_reader(const Doer& doer, std::size_t cell) {
    Access& reader = cells_[cell].reader;
    if (reader.actor >= 0 && reader.actor != doer.actor && !is_before(reader, doer)) {
      more_readers_[cell].push_back(reader);
    }
    reader = {doer.actor, doer.tick};
  }

  void send(const Doer& doer, Word channel, const std::vector<Value>& values) {
    channel_at(channel).messages.push(values);
    if (!reduces_) return;
    const auto rank = static_cast<std::size_t>(program_.block_ranks[doer.block]);
    for (const Value& value : values) {
      if (sets_.contains(value.set, rank)) note_sent(doer, rank, value.chunk);
    }
  }

  void note_sent(const Doer& doer, std::size_t rank, Word chunk) {
    const Known& known = blocks_[doer.block].known;
    const auto [place, added] = sent_.try_emplace(contribution(rank, chunk), Sent{doer.actor, doer.tick, known, true});
    Sent& first = place->second;
    if (!added && !is_before({first.block, first.tick}, doer)) first.is_first = false;
  }

  static std::uint64_t contribution(std::size_t rank, Word chunk) {
    return static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint32_t>(chunk);
  }

  void write(const Doer& doer, const Place& target, const std::vector<Value>& values,
             const std::vector<Value>& received) {
    if (target.what == 0 && !memory_.in_place) throw NotProven();
    const std::size_t first = first_cell(target);
    for (std::size_t place = 0; place < values.size(); ++place) {
      Cell& here = cells_[first + place];
      if (!is_last(doer, first + place, target.rank) &&
          (received.empty() || !has_returned(doer, first + place, received[place]))) {
        throw NotProven();
      }
      more_readers_.erase(first + place);
      here = {values[place], {doer.actor, doer.tick}, {}};
    }
  }

  // Whether all earlier accesses of a cell are before the present instruction.
  bool is_last(const Doer& doer, std::size_t cell, Word owner) const {
    const Cell& here = cells_[cell];
    if (!is_after_write(doer, here, owner)) return false;
    if (here.reader.actor >= 0 && !is_before(here.reader, doer)) return false;
    const auto more = more_readers_.find(cell);
    if (more == more_readers_.end()) return true;
    for (const Access& each : more->second) {
      if (!is_before(each, doer)) return false;
    }
    return true;
  }

  // Whether all earlier accesses of a cell are before the rank first sent the contribution that it now receives.
  bool has_returned(const Doer& doer, std::size_t cell, const Value& received) {
    const auto rank = static_cast<std::size_t>(program_.block_ranks[doer.block]);
    const auto found = sent_.find(contribution(rank, received.chunk));
    if (found == sent_.end() || !found->second.is_first || !sets_.contains(received.set, rank)) return false;
    Known& known = blocks_[doer.block].known;
    const Known before = known;
    known.learn(found->second.known);
    known.learn(found->second.block, found->second.tick);
    const bool holds = is_last(doer, cell, program_.block_ranks[doer.block]);
    known = before;
    return holds;
  }

  bool has_ended() const {
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      if (blocks_[block].done < program_.block_lengths[block]) return false;
    }
    return true;
  }

  // Whether nothing is left in the channels, and all writes to the memory of a rank are done before it ends.
  bool all_arrived() {
    for (const ChannelState& channel : channels_) {
      if (channel.pieces != 0 || !channel.messages.empty() || !channel.signals.empty()) return false;
    }
    std::vector<Known> known(static_cast<std::size_t>(program_.ranks()));
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      Block& state = blocks_[block];
      begin(state, true);
      Known& all = known[static_cast<std::size_t>(program_.block_ranks[block])];
      all.learn(state.known);
      all.learn(static_cast<Actor>(block), state.met - 1);
    }
    std::size_t cell = 0;
    for (std::size_t rank = 0; rank < known.size(); ++rank) {
      for (; cell < static_cast<std::size_t>(memory_.ends[rank]); ++cell) {
        const Access& writer = cells_[cell].writer;
        if (writer.actor >= 0 && known[rank].of(writer.actor) < writer.tick) return false;
      }
    }
    return true;
  }

  bool outputs_hold() const {
    for (std::size_t place = 0; place < memory_.last_cells.size(); ++place) {
      const Value& value = cells_[static_cast<std::size_t>(memory_.last_cells[place])].value;
      if (value.set != memory_.last_sets[place] || value.chunk != memory_.last_chunks[place]) return false;
    }
    return true;
  }

  ChannelState& channel_at(Word number) { return channels_[static_cast<std::size_t>(number)]; }

  const Program& program_;
  const Places& places_;
  const Form& form_;
  const Memory& memory_;
  bool reduces_;
  Actor helpers_, starts_;  // the first helper, the first start of a rank
  RankSets sets_;
  std::vector<Block> blocks_;
  std::vector<ChannelState> channels_;
  std::vector<Cell> cells_;
  std::vector<Word> needed_;  // for each instruction, how many still depend on it
  std::unordered_map<std::size_t, Kept> kept_;
  std::unordered_multimap<std::size_t, std::size_t> sleepers_;  // blocks that wait for an instruction
  std::unordered_map<std::size_t, std::vector<Access>> more_readers_;
  std::unordered_map<std::uint64_t, Sent> sent_;
  Queue<std::size_t> ready_;
};

}  // namespace forestcoll::interpret
