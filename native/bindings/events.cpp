// The binding of the simulation of programs.
#include "bindings/events.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/python_observer.h"
#include "simulation/event_run.h"
#include "simulation/hop_replay.h"
#include "simulation/hop_run.h"

namespace forestcoll {

namespace {

using namespace nb::literals;

using InputRows = std::pair<InputArray<Index>, InputArray<Index>>;

Rows to_rows(const InputRows& rows) { return {to_vector(rows.first), to_vector(rows.second)}; }

// Throws unless a table with `width` columns and a row for each of `rows` has the right length.
template <typename Value>
void check_table(const InputArray<Value>& values, std::size_t rows, std::size_t width) {
  if (values.size() != rows * width) throw std::invalid_argument("a table has the wrong length");
}

std::vector<EventProgram::Instruction> to_instructions(const InputArray<Index>& table) {
  std::vector<EventProgram::Instruction> instructions(table.size() / 6);
  check_table(table, instructions.size(), 6);
  const Index* row = table.data();
  for (auto& each : instructions) {
    each = {row[0], row[1], row[2] != 0, row[3], row[4], row[5]};
    row += 6;
  }
  return instructions;
}

std::vector<EventProgram::Channel> to_channels(const InputArray<Index>& table, const InputArray<double>& latencies) {
  check_table(table, latencies.size(), 3);
  std::vector<EventProgram::Channel> channels;
  for (std::size_t place = 0; place < latencies.size(); ++place) {
    const Index* row = table.data() + 3 * place;
    channels.push_back({row[0] != 0, row[1], latencies.data()[place], row[2]});
  }
  return channels;
}

std::vector<EventProgram::Flow> to_flows(const InputArray<Index>& targets, const InputArray<double>& latencies,
                                         const InputArray<double>& delays) {
  check_table(targets, latencies.size(), 1);
  check_table(delays, latencies.size(), 1);
  std::vector<EventProgram::Flow> flows;
  for (std::size_t place = 0; place < latencies.size(); ++place) {
    flows.push_back({targets.data()[place], latencies.data()[place], delays.data()[place]});
  }
  return flows;
}

nb::tuple run_events(const EventProgram& program, double launch, double overhead, double reduction, double chunk_bytes,
                     nb::object progress) {
  PythonObserver observer(std::move(progress));
  EventResult result;
  {
    nb::gil_scoped_release unlocked;
    result = EventRun(program, {launch, overhead, reduction, chunk_bytes}).run(observer);
  }
  return nb::make_tuple(result.is_complete, result.seconds, to_numpy(std::move(result.flow_bytes)),
                        to_numpy(std::move(result.action_blocks)), to_numpy(std::move(result.action_instructions)),
                        to_numpy(std::move(result.action_begins)), to_numpy(std::move(result.action_ends)));
}

nb::tuple run_hops(const HopProgram& program, const InputArray<Index>& order, double overhead, double latency,
                   nb::object progress) {
  PythonObserver observer(std::move(progress));
  HopTimes times;
  const std::vector<Index> places = to_vector(order);
  {
    nb::gil_scoped_release unlocked;
    times = HopRun(program, places, overhead, latency).run(observer);
  }
  return nb::make_tuple(to_numpy(std::move(times.begins)), to_numpy(std::move(times.ends)),
                        to_numpy(std::move(times.lanes)));
}

double replay_hops(const HopProgram& program, const InputArray<Index>& order, const InputArray<Index>& lanes,
                   const InputArray<Index>& sums, Index slots, double overhead, double latency, nb::object progress) {
  PythonObserver observer(std::move(progress));
  const HopOrder given{to_vector(order), to_vector(lanes), to_vector(sums), slots};
  given.check(program);
  nb::gil_scoped_release unlocked;
  return HopReplay(program, given, overhead, latency).run(observer);
}

}  // namespace

void bind_hops(nb::module_ module) {
  nb::class_<HopProgram>(module, "HopProgram", "Hops between ranks, with what limits them.")
      .def(
          "__init__",
          [](HopProgram* self, const InputArray<Index>& pairs, const InputArray<double>& sizes, const InputRows& after,
             const InputArray<Index>& lanes, const InputArray<Index>& places, const InputRows& links,
             const InputArray<double>& weights, const InputArray<double>& bandwidths) {
            HopProgram made;
            made.pairs = to_vector(pairs);
            made.sizes = to_vector(sizes);
            made.after = to_rows(after);
            made.lanes = to_vector(lanes);
            made.places = to_vector(places);
            made.limits = {to_rows(links), to_vector(weights), to_vector(bandwidths)};
            made.check();
            new (self) HopProgram(std::move(made));
          },
          nb::kw_only(), "pairs"_a, "sizes"_a, "after"_a, "lanes"_a, "places"_a, "links"_a, "weights"_a, "bandwidths"_a)
      .def("run", &run_hops, nb::kw_only(), "order"_a, "overhead"_a, "latency"_a, "progress"_a = nb::none(),
           "Return the begin, the end and the lane of each hop.")
      .def("replay", &replay_hops, nb::kw_only(), "order"_a, "lanes"_a, "sums"_a, "slots"_a, "overhead"_a, "latency"_a,
           "progress"_a = nb::none(), "Return the time of a program whose blocks do the hops in an order.");
}

void bind_events(nb::module_ module) {
  nb::class_<EventProgram>(module, "EventProgram", "A program as tables, with what limits its transfers.")
      .def(
          "__init__",
          [](EventProgram* self, Index ranks, Index barriers, Index cells, const InputArray<Index>& block_starts,
             const InputRows& loops, const InputArray<Index>& instructions, const InputArray<Index>& channels,
             const InputArray<double>& channel_latencies, const InputArray<Index>& flow_targets,
             const InputArray<double>& flow_latencies, const InputArray<double>& flow_delays,
             const InputArray<Index>& semaphores, const InputRows& after, const InputRows& waits,
             const InputRows& signals, const InputRows& flushes, const InputRows& acquires, const InputRows& releases,
             const InputRows& received, const InputRows& sent, const InputRows& reads, const InputRows& writes,
             const InputRows& transfers, const InputRows& links, const InputArray<double>& weights,
             const InputArray<double>& bandwidths) {
            EventProgram made;
            made.block_starts = to_vector(block_starts);
            made.loops = to_rows(loops);
            made.instructions = to_instructions(instructions);
            made.channels = to_channels(channels, channel_latencies);
            made.flows = to_flows(flow_targets, flow_latencies, flow_delays);
            made.semaphores = to_vector(semaphores);
            made.ranks = ranks;
            made.barriers = barriers;
            made.cells = cells;
            made.after = to_rows(after);
            made.waits = to_rows(waits);
            made.signals = to_rows(signals);
            made.flushes = to_rows(flushes);
            made.acquires = to_rows(acquires);
            made.releases = to_rows(releases);
            made.received = to_rows(received);
            made.sent = to_rows(sent);
            made.reads = to_rows(reads);
            made.writes = to_rows(writes);
            made.transfers = to_rows(transfers);
            made.limits = {to_rows(links), to_vector(weights), to_vector(bandwidths)};
            made.check();
            new (self) EventProgram(std::move(made));
          },
          nb::kw_only(), "ranks"_a, "barriers"_a, "cells"_a, "block_starts"_a, "loops"_a, "instructions"_a,
          "channels"_a, "channel_latencies"_a, "flow_targets"_a, "flow_latencies"_a, "flow_delays"_a, "semaphores"_a,
          "after"_a, "waits"_a, "signals"_a, "flushes"_a, "acquires"_a, "releases"_a, "received"_a, "sent"_a, "reads"_a,
          "writes"_a, "transfers"_a, "links"_a, "weights"_a, "bandwidths"_a)
      .def("run", &run_events, nb::kw_only(), "launch"_a, "overhead"_a, "reduction"_a, "chunk_bytes"_a,
           "progress"_a = nb::none(),
           "Return whether all blocks came to their ends, the time of the last event, the bytes of each flow, and the "
           "columns of the actions: block, instruction, begin and end.");
}

}  // namespace forestcoll
