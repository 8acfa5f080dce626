// A program of messages or of writes into the memory of other ranks, as a row of numbers.
//
// Semaphores, barriers, packets and switches are not part of it: programs with them are checked elsewhere. For each
// instruction, in the order of ranks and blocks, the words are: flags (1: relaxed, 2: meets), the channel or -1, the
// numbers of sources, targets, dependencies, waits, signals and flushes; then the sources and targets with four words
// each (rank, buffer, offset, count of a span; -1, channel, 0, count of a message), dependencies with two (block of the
// rank, instruction), and the channels of waits, signals and flushes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <unordered_set>
#include <vector>

namespace forestcoll::interpret {

using Word = std::int32_t;

struct Place {
  Word rank;  // -1: a message
  Word what;  // the buffer of a span, the channel of a message
  Word offset;
  Word count;

  bool is_message() const { return rank < 0; }
};

struct Dependency {
  Word block;
  Word instruction;
};

// One instruction; the words belong to the program.
class Instruction {
 public:
  explicit Instruction(const Word* words) : words_(words) {}

  bool relaxed() const { return (words_[0] & 1) != 0; }
  bool meets() const { return (words_[0] & 2) != 0; }
  Word channel() const { return words_[1]; }
  std::size_t sources() const { return count(2); }
  std::size_t targets() const { return count(3); }
  std::size_t dependencies() const { return count(4); }
  Place source(std::size_t number) const { return place(number); }
  Place target(std::size_t number) const { return place(sources() + number); }
  Dependency after(std::size_t number) const {
    const Word* first = words_ + kHead + 4 * (sources() + targets()) + 2 * number;
    return {first[0], first[1]};
  }
  std::span<const Word> waits() const { return {channels(), count(5)}; }
  std::span<const Word> signals() const { return {channels() + count(5), count(6)}; }
  std::span<const Word> flushes() const { return {channels() + count(5) + count(6), count(7)}; }
  bool moves() const { return sources() + targets() > 0; }
  Word chunks() const { return moves() ? place(0).count : 0; }

  // The first message among the places, or -1.
  Word received() const { return message(0, sources()); }
  Word sent() const { return message(sources(), sources() + targets()); }

  static constexpr std::size_t kHead = 8;

  // The number of words, or 0 if the instruction does not end within `words`.
  static std::size_t size(std::span<const Word> words) {
    if (words.size() < kHead) return 0;
    std::size_t total = kHead;
    constexpr std::size_t lengths[] = {4, 4, 2, 1, 1, 1};
    for (std::size_t part = 0; part < 6; ++part) {
      if (words[2 + part] < 0) return 0;
      total += lengths[part] * static_cast<std::size_t>(words[2 + part]);
    }
    return total <= words.size() ? total : 0;
  }

 private:
  std::size_t count(std::size_t word) const { return static_cast<std::size_t>(words_[word]); }
  Place place(std::size_t number) const {
    const Word* first = words_ + kHead + 4 * number;
    return {first[0], first[1], first[2], first[3]};
  }
  const Word* channels() const { return words_ + kHead + 4 * (sources() + targets()) + 2 * dependencies(); }
  Word message(std::size_t first, std::size_t stop) const {
    for (std::size_t number = first; number < stop; ++number) {
      if (place(number).is_message()) return place(number).what;
    }
    return -1;
  }

  const Word* words_;
};

enum class Kind : std::uint8_t { fifo, memory, port };

struct Channel {
  Kind kind;
  Word source;
  Word target;
};

// The parts of a program that Python passes. Blocks are numbered over all ranks.
struct Program {
  std::span<const Word> words;
  std::span<const Word> block_ranks;    // the rank of each block, in ascending order
  std::span<const Word> block_lengths;  // the number of instructions of each block
  std::span<const Word> sizes;          // for each rank, the chunks of its input, output and scratch buffer
  std::vector<Channel> channels;
  Word slots;        // the messages that a FIFO channel holds; 0 for no limit
  Word slot_chunks;  // the most chunks of a message

  Word ranks() const { return static_cast<Word>(sizes.size() / 3); }
  std::size_t blocks() const { return block_ranks.size(); }
};

// Where the instructions of a program begin.
class Places {
 public:
  explicit Places(const Program& program) : words_(program.words) {
    std::size_t at = 0;
    for (const Word length : program.block_lengths) {
      firsts_.push_back(starts_.size());
      for (Word number = 0; number < length; ++number) {
        const std::size_t size = Instruction::size(words_.subspan(at));
        if (size == 0) throw std::invalid_argument("the words end within an instruction");
        starts_.push_back(at);
        at += size;
      }
    }
    firsts_.push_back(starts_.size());
    if (at != words_.size()) throw std::invalid_argument("there are words after the last instruction");
  }

  // The number of an instruction over all blocks.
  std::size_t number(std::size_t block, Word instruction) const {
    return firsts_[block] + static_cast<std::size_t>(instruction);
  }
  Instruction at(std::size_t number) const { return Instruction(words_.data() + starts_[number]); }
  std::size_t size() const { return starts_.size(); }

 private:
  std::span<const Word> words_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> firsts_;
};

// Decides whether each instruction is well formed. All numbers of well-formed instructions refer to existing objects.
class Form {
 public:
  Form(const Program& program, const Places& places) : program_(program), places_(places) {
    firsts_.assign(static_cast<std::size_t>(program.ranks()) + 1, 0);
    for (const Word rank : program.block_ranks) ++firsts_[static_cast<std::size_t>(rank) + 1];
    for (std::size_t rank = 1; rank < firsts_.size(); ++rank) firsts_[rank] += firsts_[rank - 1];
    for (const Channel& channel : program.channels) {
      if (channel.kind == Kind::memory) reached_.insert(pair(channel.source, channel.target));
    }
    users_.assign(4 * program.channels.size(), kNobody);
  }

  // The first block of a rank.
  std::size_t first_block(Word rank) const { return firsts_[static_cast<std::size_t>(rank)]; }

  template <class Poll>
  bool holds(Poll&& poll) {
    for (std::size_t block = 0; block < program_.blocks(); ++block) {
      poll();
      for (Word number = 0; number < program_.block_lengths[block]; ++number) {
        if (!is_possible(block, places_.at(places_.number(block, number)))) return false;
      }
    }
    return true;
  }

 private:
  enum End : std::size_t { receives, sends, waits, signals };
  static constexpr std::size_t kNobody = ~std::size_t{0};

  static std::uint64_t pair(Word source, Word target) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(target);
  }

  bool is_possible(std::size_t block, const Instruction& instruction) {
    const Word rank = program_.block_ranks[block];
    return places_hold(block, rank, instruction) && channel_holds(block, rank, instruction) &&
           dependencies_hold(rank, instruction) && ends_hold(block, rank, instruction);
  }

  bool places_hold(std::size_t block, Word rank, const Instruction& instruction) {
    if ((instruction.sources() == 0) != (instruction.targets() == 0)) return false;
    int received = 0, sent = 0;
    for (std::size_t number = 0; number < instruction.sources(); ++number) {
      const Place place = instruction.source(number);
      received += place.is_message();
      if (!place_holds(block, rank, instruction, place, receives)) return false;
    }
    for (std::size_t number = 0; number < instruction.targets(); ++number) {
      const Place place = instruction.target(number);
      sent += place.is_message();
      if (!place_holds(block, rank, instruction, place, sends)) return false;
    }
    return received <= 1 && sent <= 1;
  }

  bool place_holds(std::size_t block, Word rank, const Instruction& instruction, const Place& place, End end) {
    if (place.count < 1 || place.count != instruction.chunks()) return false;
    if (place.is_message()) {
      if (!is_channel(place.what)) return false;
      const Channel& channel = channel_at(place.what);
      return channel.kind == Kind::fifo && (end == receives ? channel.target : channel.source) == rank &&
             belongs(place.what, end, block);
    }
    if (place.rank >= program_.ranks() || place.what < 0 || place.what > 2 || place.offset < 0) return false;
    const Word size = program_.sizes[static_cast<std::size_t>(3 * place.rank + place.what)];
    if (place.offset > size - place.count) return false;
    return place.rank == rank || is_reached(rank, instruction, place.rank);
  }

  bool is_reached(Word rank, const Instruction& instruction, Word other) const {
    if (!is_channel(instruction.channel())) return false;
    const Channel& channel = channel_at(instruction.channel());
    if (channel.kind == Kind::fifo) return false;
    if (channel.source == rank && channel.target == other) return true;
    return channel.kind == Kind::memory && reached_.contains(pair(rank, other));
  }

  // A PORT channel copies one span of the rank into the memory at its other end.
  bool channel_holds(std::size_t block, Word rank, const Instruction& instruction) {
    if (instruction.channel() == -1) return true;
    if (!is_channel(instruction.channel())) return false;
    const Channel& channel = channel_at(instruction.channel());
    if (channel.kind != Kind::port || !instruction.moves()) return true;
    return channel.source == rank && instruction.sources() == 1 && instruction.targets() == 1 &&
           instruction.source(0).rank == rank && instruction.target(0).rank == channel.target &&
           belongs(instruction.channel(), signals, block);
  }

  bool dependencies_hold(Word rank, const Instruction& instruction) const {
    const std::size_t first = first_block(rank), blocks = first_block(rank + 1) - first;
    for (std::size_t number = 0; number < instruction.dependencies(); ++number) {
      const Dependency after = instruction.after(number);
      if (after.block < 0 || static_cast<std::size_t>(after.block) >= blocks || after.instruction < 0) return false;
      if (after.instruction >= program_.block_lengths[first + static_cast<std::size_t>(after.block)]) return false;
    }
    return true;
  }

  bool ends_hold(std::size_t block, Word rank, const Instruction& instruction) {
    for (const Word number : instruction.waits()) {
      if (!is_signalled(number) || channel_at(number).target != rank || !belongs(number, waits, block)) return false;
    }
    for (const Word number : instruction.signals()) {
      if (!is_signalled(number) || channel_at(number).source != rank || !belongs(number, signals, block)) return false;
    }
    for (const Word number : instruction.flushes()) {
      if (!is_signalled(number) || channel_at(number).kind != Kind::port) return false;
      if (channel_at(number).source != rank || !belongs(number, signals, block)) return false;
    }
    return true;
  }

  bool is_channel(Word number) const {
    return number >= 0 && static_cast<std::size_t>(number) < program_.channels.size();
  }
  const Channel& channel_at(Word number) const { return program_.channels[static_cast<std::size_t>(number)]; }
  bool is_signalled(Word number) const { return is_channel(number) && channel_at(number).kind != Kind::fifo; }

  // Whether no other block uses this end of the channel.
  bool belongs(Word channel, End end, std::size_t block) {
    std::size_t& user = users_[4 * static_cast<std::size_t>(channel) + end];
    if (user == kNobody) user = block;
    return user == block;
  }

  const Program& program_;
  const Places& places_;
  std::vector<std::size_t> firsts_;
  std::unordered_set<std::uint64_t> reached_;
  std::vector<std::size_t> users_;
};

}  // namespace forestcoll::interpret
