// The bindings of what reads, writes and verifies schedules, and of what verifies programs: they convert Python values,
// look for Ctrl-C, and do nothing else. Nothing here is used to make schedules.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "interpreter/proof.h"
#include "schedule/images.h"
#include "schedule/rows.h"
#include "schedule/rows_text.h"
#include "schedule/tree_walks.h"
#include "verification/examination.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace forestcoll {
namespace {

using schedule::Entry;
using schedule::ShortEntry;

template <class Number>
using Array = nb::ndarray<Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Number>
std::span<Number> span_of(const Array<Number>& array) {
  return {array.data(), array.size()};
}

// Moves the memory of a vector to NumPy.
template <class Number>
nb::ndarray<nb::numpy, Number, nb::ndim<1>> to_array(std::vector<Number> values) {
  auto owned = std::make_unique<std::vector<Number>>(std::move(values));
  nb::capsule owner(owned.get(), [](void* pointer) noexcept { delete static_cast<std::vector<Number>*>(pointer); });
  auto* held = owned.release();
  return nb::ndarray<nb::numpy, Number, nb::ndim<1>>(held->data(), {held->size()}, owner);
}

// Moves an array to NumPy.
template <class Number>
nb::ndarray<nb::numpy, Number, nb::ndim<1>> to_array(std::unique_ptr<Number[]> values, std::size_t size) {
  nb::capsule owner(values.get(), [](void* pointer) noexcept { delete[] static_cast<Number*>(pointer); });
  return {values.release(), {size}, owner};
}

// Handles signals (Ctrl-C) a few times a second, with or without the interpreter lock.
class Signals {
 public:
  void operator()() {
    if (++calls_ % 64 != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{50};

  std::uint64_t calls_ = 0;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kInterval;
};

// Flat rows that belong to Python; the bindings keep their arrays alive.
struct KeptRows {
  template <class Start, class Number>
  KeptRows(Array<const Start> starts, Array<const Number> entries)
      : rows(schedule::Starts(span_of(starts)), span_of(entries)) {}

  schedule::Rows rows;
};

// The text is written into memory of its own and copied: with Python's stable ABI, bytes cannot be made shorter.
nb::bytes rows_text(const KeptRows& kept, std::size_t first, std::size_t stop) {
  if (first > stop || stop > kept.rows.size()) throw std::out_of_range("no such rows");
  const auto text = std::make_unique_for_overwrite<char[]>(schedule::most_text(kept.rows, first, stop));
  const char* const end = [&] {
    nb::gil_scoped_release unlocked;
    return schedule::write_rows(kept.rows, first, stop, text.get());
  }();
  return nb::bytes(text.get(), static_cast<std::size_t>(end - text.get()));
}

nb::object scan_rows(Array<const std::uint8_t> text, std::size_t least) {
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  auto found = [&] {
    nb::gil_scoped_release unlocked;
    return schedule::scan_rows(view, std::max<std::size_t>(1, least));
  }();
  if (!found) return nb::none();
  return nb::make_tuple(to_array(std::move(found->lengths), found->rows),
                        to_array(std::move(found->entries), found->size));
}

nb::tuple heights(const KeptRows& routes, const KeptRows& trees, std::size_t nodes, bool reduces) {
  schedule::Heights found = schedule::HeightSearch(routes.rows, nodes, reduces).run(trees.rows, Signals());
  return nb::make_tuple(to_array(std::move(found.sends)), to_array(std::move(found.hops)));
}

nb::tuple sends(const KeptRows& routes, const KeptRows& trees, Array<const std::uint8_t> is_compute) {
  schedule::Sends found = schedule::sends_of(routes.rows, trees.rows, span_of(is_compute), Signals());
  return nb::make_tuple(to_array(std::move(found.from_compute)), to_array(std::move(found.over_links)));
}

template <class Number>
using Maps = nb::ndarray<const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Number>
void write_images(const KeptRows& kept, Maps<Number> maps, Array<Number> out) {
  const std::span<const Number> images(maps.data(), maps.size());
  schedule::write_images(kept.rows, images, maps.shape(1), span_of(out), Signals());
}

void add_units(const KeptRows& trees, Array<const std::int64_t> units, Array<std::int64_t> carried) {
  schedule::add_units(trees.rows, span_of(units), span_of(carried), Signals());
}

using Marks = Array<const std::uint8_t>;

struct PhaseParts {
  const KeptRows* trees;
  Array<const Entry> roots;
  Array<const std::int64_t> units;
  Marks may_be_root, may_end;
  bool reduces;

  verify::Forest forest() const {
    return {trees->rows, span_of(roots), span_of(units), span_of(may_be_root), span_of(may_end), reduces};
  }
};

// The load of each link, or nothing if a rule about routes or trees does not hold.
template <class Carried>
std::optional<std::vector<std::int64_t>> loads_if_correct(verify::Examination<Carried> examination,
                                                          const std::vector<verify::Forest>& forests) {
  for (const verify::Forest& forest : forests) {
    if (!examination.trees_hold(forest, Signals())) return std::nullopt;
  }
  if (!examination.routes_hold(Signals())) return std::nullopt;
  return examination.loads();
}

// Whether no route carries more than `most`: a tree that keeps the rules lists a route at most once.
bool carries_at_most(std::int64_t most, const std::vector<verify::Forest>& forests) {
  for (const verify::Forest& forest : forests) {
    for (const std::int64_t each : forest.units) {
      if (each < 0 || each > most) return false;
      most -= each;
    }
  }
  return true;
}

nb::object examine(Marks is_compute, Marks takes_part, Marks may_end, Array<const Entry> sources,
                   Array<const Entry> targets, const KeptRows& routes, const std::vector<const PhaseParts*>& phases) {
  std::vector<verify::Forest> forests;
  for (const PhaseParts* phase : phases) forests.push_back(phase->forest());
  std::optional<std::vector<std::int64_t>> loads;
  {
    nb::gil_scoped_release unlocked;
    const auto with = [&]<class Carried>(Carried) {
      return loads_if_correct<Carried>(
          {span_of(is_compute), span_of(takes_part), span_of(may_end), span_of(sources), span_of(targets), routes.rows},
          forests);
    };
    loads = carries_at_most(std::numeric_limits<std::uint16_t>::max(), forests) ? with(std::uint16_t{})
                                                                                : with(std::int64_t{});
  }
  return loads ? nb::cast(to_array(*std::move(loads))) : nb::none();
}

using Words = Array<const interpret::Word>;
using Cells = Array<const std::int64_t>;

std::vector<interpret::Channel> channels_of(std::span<const interpret::Word> rows) {
  std::vector<interpret::Channel> channels;
  for (std::size_t first = 0; first + 2 < rows.size(); first += 3) {
    channels.push_back({static_cast<interpret::Kind>(rows[first]), rows[first + 1], rows[first + 2]});
  }
  return channels;
}

// A program whose arrays belong to Python; the bindings keep them alive.
struct KeptProgram {
  KeptProgram(Words words, Words block_ranks, Words block_lengths, Words sizes, Words channels, interpret::Word slots,
              interpret::Word slot_chunks)
      : program{span_of(words), span_of(block_ranks),           span_of(block_lengths),
                span_of(sizes), channels_of(span_of(channels)), slots,
                slot_chunks},
        places(program), form(program, places) {}
  KeptProgram(const KeptProgram&) = delete;

  interpret::Program program;
  interpret::Places places;
  interpret::Form form;
};

bool is_proven(KeptProgram& kept, bool reduces, bool in_place, Cells starts, Cells ends, Words first_sets,
               Words first_chunks, Cells last_cells, Words last_sets, Words last_chunks) {
  const interpret::Memory memory{span_of(starts),       span_of(ends),       in_place,           span_of(first_sets),
                                 span_of(first_chunks), span_of(last_cells), span_of(last_sets), span_of(last_chunks)};
  nb::gil_scoped_release unlocked;
  return interpret::Proof(kept.program, kept.places, kept.form, memory, reduces).holds(Signals());
}

template <class Start, class Number>
void bind_rows_of(nb::class_<KeptRows>& rows) {
  rows.def(nb::init<Array<const Start>, Array<const Number>>(), nb::arg("starts").noconvert(),
           nb::arg("entries").noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

template <class Number>
void bind_images_of(nb::module_& module) {
  module.def("write_images", &write_images<Number>, "rows"_a, nb::arg("maps").noconvert(), nb::arg("out").noconvert(),
             "Write to `out`, for each row of `maps`, the image of each entry of `rows`.");
}

}  // namespace
}  // namespace forestcoll

NB_MODULE(_schedules, module) {
  using namespace forestcoll;
  module.doc() = "Reading, writing and verifying the large arrays of schedules, and verifying programs.";
  nb::class_<KeptRows> rows(module, "Rows", "Flat rows of integers.");
  bind_rows_of<std::int32_t, Entry>(rows);
  bind_rows_of<std::int64_t, Entry>(rows);
  bind_rows_of<std::int32_t, ShortEntry>(rows);
  bind_rows_of<std::int64_t, ShortEntry>(rows);
  module.def("rows_text", &rows_text, "rows"_a, "first"_a, "stop"_a,
             "Return the text of the rows from `first` to `stop` - 1: JSON without spaces.");
  module.def("scan_rows", &scan_rows, nb::arg("text").noconvert(), "least"_a,
             "Return lengths and entries of the rows in a text, or None if the text is unusual. It is read in parallel "
             "parts of `least` bytes or more.");
  module.def("heights", &heights, "routes"_a, "trees"_a, "nodes"_a, "reduces"_a,
             "Return the height and the hops of each tree.");
  module.def("sends", &sends, "routes"_a, "trees"_a, nb::arg("is_compute").noconvert(),
             "Return, for each tree, its routes that start on a compute node, and the links of all its routes.");
  bind_images_of<Entry>(module);
  bind_images_of<ShortEntry>(module);
  module.def("add_units", &add_units, "trees"_a, nb::arg("units").noconvert(), nb::arg("carried").noconvert(),
             "Add, for each tree, its units to `carried` of each of its routes.");
  nb::class_<PhaseParts>(module, "Phase", "The trees of a phase.")
      .def(
          "__init__",
          [](PhaseParts* place, const KeptRows& trees, Array<const Entry> roots, Array<const std::int64_t> units,
             Marks may_be_root, Marks may_end,
             bool reduces) { new (place) PhaseParts{&trees, roots, units, may_be_root, may_end, reduces}; },
          "trees"_a, nb::arg("roots").noconvert(), nb::arg("units").noconvert(), nb::arg("may_be_root").noconvert(),
          nb::arg("may_end").noconvert(), "reduces"_a, nb::keep_alive<1, 2>());
  module.def("examine", &examine, nb::arg("is_compute").noconvert(), nb::arg("takes_part").noconvert(),
             nb::arg("may_end").noconvert(), nb::arg("sources").noconvert(), nb::arg("targets").noconvert(), "routes"_a,
             "phases"_a, "Return the load of each link, or None if a rule about routes or trees does not hold.");
  nb::class_<KeptProgram>(module, "Program", "A program of messages, or of writes into the memory of other ranks.")
      .def(nb::init<Words, Words, Words, Words, Words, interpret::Word, interpret::Word>(),
           nb::arg("words").noconvert(), nb::arg("block_ranks").noconvert(), nb::arg("block_lengths").noconvert(),
           nb::arg("sizes").noconvert(), nb::arg("channels").noconvert(), "slots"_a, "slot_chunks"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def(
          "is_well_formed", [](KeptProgram& kept) { return kept.form.holds(Signals()); },
          nb::call_guard<nb::gil_scoped_release>(), "Return whether each instruction is well formed.")
      .def("is_proven", &is_proven, "reduces"_a, "in_place"_a, nb::arg("starts").noconvert(),
           nb::arg("ends").noconvert(), nb::arg("first_sets").noconvert(), nb::arg("first_chunks").noconvert(),
           nb::arg("last_cells").noconvert(), nb::arg("last_sets").noconvert(), nb::arg("last_chunks").noconvert(),
           "Return whether the well-formed program is proven to compute the right data.");
}
