// The bindings of the engine: they turn Python values into the engine's, release the interpreter's lock, and nothing
// else.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace forestcoll::runtime {
namespace {

using EdgeRow = std::array<std::int64_t, 6>;   // number, flow, phase, lane, window bytes, bytes a second
using RangeRow = std::array<std::int64_t, 3>;  // offset, count, chunk

std::vector<PlannedEdge> edges_of(const std::vector<EdgeRow>& rows) {
  std::vector<PlannedEdge> edges;
  for (const auto& [number, flow, phase, lane, window, rate] : rows) {
    if (phase != 0 && phase != 1) throw std::invalid_argument("a phase is 0 or 1");
    edges.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(flow), static_cast<Phase>(phase),
                     static_cast<std::int32_t>(lane), window, rate});
  }
  return edges;
}

std::shared_ptr<Plan> make_plan(std::uint32_t flows, std::uint32_t edges, const std::vector<EdgeRow>& incoming,
                                const std::vector<EdgeRow>& outgoing) {
  return std::make_shared<Plan>(flows, edges, edges_of(incoming), edges_of(outgoing));
}

std::shared_ptr<Layout> make_layout(const std::vector<RangeRow>& rows) {
  Layout layout;
  for (const auto& [offset, count, chunk] : rows) {
    if (offset < 0 || count < 0 || chunk < 1) throw std::invalid_argument("a range of a layout is malformed");
    layout.ranges.push_back({offset, count, chunk});
  }
  return std::make_shared<Layout>(std::move(layout));
}

// Addresses are 0 where the rank has no such vector.
std::shared_ptr<Work> post(Engine& engine, std::shared_ptr<Plan> plan, std::shared_ptr<Layout> layout,
                           const nb::bytes& digest, const std::string& label, std::string collective,
                           std::int64_t count, int type, int reduction, double factor, std::int64_t members,
                           std::uintptr_t own, std::uintptr_t result, std::int64_t result_begin) {
  if (layout->ranges.size() != plan->flows().size()) throw std::invalid_argument("the layout is not one of this plan");
  Request request{std::move(plan),
                  std::move(layout),
                  make_descriptor({digest.c_str(), digest.size()}, label),
                  std::move(collective),
                  count,
                  static_cast<ElementType>(type),
                  static_cast<Reduction>(reduction),
                  factor,
                  members,
                  reinterpret_cast<const std::byte*>(own),
                  reinterpret_cast<std::byte*>(result),
                  result_begin};
  nb::gil_scoped_release unlocked;
  return engine.post(std::move(request));
}

nb::list journal(const Engine& engine) {
  nb::list rows;
  for (const JournalEntry& entry : engine.journal()) {
    std::vector<int> waits_for;
    for (const Awaited& each : entry.waits_for) waits_for.push_back(each.rank);
    rows.append(nb::make_tuple(entry.number, std::string(entry.descriptor.text()), entry.state, waits_for,
                               entry.collective, name_of(entry.type),
                               static_cast<std::size_t>(entry.count) * size_of(entry.type)));
  }
  return rows;
}

void bind(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "What one rank does in a collective, for data of any size.");
  nb::class_<Layout>(module, "Layout", "Where each flow's part of the data lies, for data of one size.");
  nb::class_<Work>(module, "Work", "The state of one operation.")
      .def_prop_ro("number", &Work::number)
      .def("is_done", &Work::is_done)
      .def("error", &Work::error, "Return the message of the failure, empty if there is none.");
  nb::class_<Engine>(module, "Engine", "One rank's part in a group: its connections and its progress thread.")
      .def(
          "__init__",
          [](Engine* self, int rank, double timeout, std::size_t staging, std::string group, std::string dump) {
            new (self) Engine(EngineOptions{rank, timeout, staging, std::move(group), std::move(dump)});
          },
          "rank"_a, "timeout"_a, "staging_bytes_kept"_a, "group"_a, "dump"_a)
      .def("make_pages", &Engine::make_pages, "ranks"_a, "bytes"_a, "reads_memory"_a)
      .def("add_pages", &Engine::add_pages, "file"_a, "peer"_a)
      .def("add_sender", &Engine::add_sender, "socket"_a, "peer"_a, "lane"_a)
      .def("add_receiver", &Engine::add_receiver, "socket"_a, "peer"_a, "lane"_a)
      .def("add_control", &Engine::add_control, "socket"_a, "peer"_a)
      .def("start", &Engine::start)
      .def("post", &post, "plan"_a, "layout"_a, "digest"_a, "label"_a, "collective"_a, "count"_a, "type"_a,
           "reduction"_a, "factor"_a, "members"_a, "own"_a, "result"_a, "result_begin"_a)
      .def(
          "wait",
          [](Engine& engine, const Work& work, double seconds) {
            nb::gil_scoped_release unlocked;
            return engine.wait(work, Engine::Seconds(seconds));
          },
          "work"_a, "seconds"_a, "Return whether the operation ended within this time.")
      .def("journal", &journal,
           "Return number, label, state, awaited ranks, collective, type and bytes of the last operations.")
      .def("close", &Engine::close, "grace"_a, nb::call_guard<nb::gil_scoped_release>());
  module.def("make_plan", &make_plan, "flows"_a, "edges"_a, "incoming"_a, "outgoing"_a);
  module.def("make_layout", &make_layout, "rows"_a);
}

}  // namespace
}  // namespace forestcoll::runtime

NB_MODULE(_runtime, module) {
  module.doc() = "The engine that runs schedules over sockets and shared memory.";
  forestcoll::runtime::bind(module);
}
