// A program as tables: what its simulation needs of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/rows.h"
#include "simulation/sharing.h"

namespace forestcoll {

inline constexpr Index kNone = -1;

// Blocks, channels, semaphores, barriers, flows and cells are numbered over all ranks; an instruction is numbered over
// all blocks, and the instructions of a block follow each other. A cell is a chunk of a buffer that packets are written
// to. Rows are by instruction.
struct EventProgram {
  struct Instruction {
    Index chunks;          // the chunks that it moves
    Index added;           // the chunks that it adds to others
    bool moves;            // whether it moves data
    Index port;            // the PORT channel whose helper moves its data, or kNone
    Index barrier;         // the barrier that it is, or kNone
    Index barrier_blocks;  // how many blocks meet there
  };

  struct Channel {
    bool is_port;    // whether a helper sends instead of blocks
    Index target;    // the rank that receives
    double latency;  // seconds that a signal takes
    Index slots;     // the messages that it holds, or kNone for no limit
  };

  struct Flow {
    Index target;    // the rank that receives
    double latency;  // seconds from the moment when the last byte leaves until it arrives
    double delay;    // seconds from this moment until the instruction is done: 0, or for data that is read, more
  };

  std::vector<Index> block_starts;  // the first instruction of each block, and the number of instructions
  Rows loops;                       // by block: (first instruction in the block, length, rounds), in this order
  std::vector<Instruction> instructions;
  std::vector<Channel> channels;
  std::vector<Flow> flows;
  std::vector<Index> semaphores;  // the count that each starts with
  Index ranks = 0, barriers = 0, cells = 0;
  Rows after;                    // (block, the number of an instruction in it): it must be done, in the same round
  Rows waits, signals, flushes;  // channels
  Rows acquires, releases;       // semaphores
  Rows received, sent;           // channels of the messages that are sources and targets
  Rows reads;                    // (rank, first cell, number of cells) of packets that are read
  Rows writes;                   // the same, of packets that are written
  Rows transfers;                // flows
  FlowLimits limits;

  Index blocks() const { return static_cast<Index>(block_starts.size()) - 1; }

  Index size(Index block) const { return block_starts[block + 1] - block_starts[block]; }

  // Returns how many instructions a block executes, in all rounds of its loops.
  std::int64_t executed(Index block) const {
    std::int64_t count = size(block);
    const auto row = loops[block];
    for (std::size_t each = 0; each < row.size(); each += 3) {
      count += std::int64_t{row[each + 1]} * (row[each + 2] - 1);
    }
    return count;
  }

  // Returns how many instructions later a block executes the same instruction in the next round, if all of its
  // instructions are one loop; 0 for other blocks, whose instructions are in no `after`.
  Index round_length(Index block) const {
    const auto row = loops[block];
    return row.size() == 3 && row[1] == size(block) ? row[1] : 0;
  }

  // Throws if a number is out of range.
  void check() const {
    check_blocks();
    check_loops();
    const auto count = static_cast<Index>(instructions.size());
    const auto of = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
    after.check("after", count, {blocks(), of(instructions) + 1});
    for (const auto& [rows, name] : {std::pair{&waits, "waits"},
                                     {&signals, "signals"},
                                     {&flushes, "flushes"},
                                     {&received, "received"},
                                     {&sent, "sent"}}) {
      rows->check(name, count, {of(channels)});
    }
    acquires.check("acquires", count, {of(semaphores)});
    releases.check("releases", count, {of(semaphores)});
    transfers.check("transfers", count, {of(flows)});
    for (const auto& [rows, name] : {std::pair{&reads, "reads"}, {&writes, "writes"}}) {
      rows->check(name, count, {ranks, std::int64_t{cells} + 1, std::int64_t{cells} + 1});
      for (Index instruction = 0; instruction < count; ++instruction) {
        const auto row = (*rows)[instruction];
        for (std::size_t each = 0; each < row.size(); each += 3) {
          require(std::int64_t{row[each + 1]} + row[each + 2] <= cells, name);
        }
      }
    }
    limits.check(static_cast<Index>(flows.size()));
  }

 private:
  static void require(bool condition, const std::string& name) {
    if (!condition) throw std::invalid_argument(name + " is malformed");
  }

  static bool is_index(Index value, std::size_t size) { return value >= 0 && static_cast<std::size_t>(value) < size; }

  void check_loops() const {
    const auto most = std::int64_t{std::numeric_limits<Index>::max()};
    loops.check("loops", blocks(), {most, most, most});
    for (Index block = 0; block < blocks(); ++block) {
      const auto row = loops[block];
      Index done = 0;
      for (std::size_t each = 0; each < row.size(); each += 3) {
        require(row[each] >= done && row[each + 1] > 0 && row[each + 2] > 0, "loops");
        require(row[each + 1] <= size(block) - row[each], "loops");
        done = row[each] + row[each + 1];
      }
      require(executed(block) <= most, "loops");
    }
  }

  void check_blocks() const {
    require(!block_starts.empty() && block_starts.front() == 0 && std::ranges::is_sorted(block_starts) &&
                block_starts.back() == static_cast<Index>(instructions.size()),
            "block_starts");
    for (const Instruction& each : instructions) {
      require(each.chunks >= 0 && each.added >= 0, "chunks");
      require(each.port == kNone || (is_index(each.port, channels.size()) && channels[each.port].is_port), "port");
      require(each.barrier == kNone || (is_index(each.barrier, barriers) && each.barrier_blocks > 0), "barrier");
    }
    for (const Channel& each : channels) require(is_index(each.target, ranks), "channels");
    for (const Flow& each : flows) require(is_index(each.target, ranks), "flows");
  }
};

}  // namespace forestcoll
