// Fuzzes the judge of trees with any routes, trees, roots and units.
//
// The network is small and correct, as Python code has made it. The starts of rows are sometimes wrong. If the judge
// accepts trees, each of them enters nodes at most once and reaches all nodes that take part, and the loads are the
// sums of units over the routes of the trees.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/capacity.h"
#include "schedule/rows.h"
#include "schedule/tree_walks.h"
#include "verification/examination.h"

namespace {

using namespace forestcoll;
using schedule::Entry;
using schedule::Rows;
using schedule::Starts;

constexpr auto kNoPulse = [] {};

void require(bool holds) {
  if (!holds) std::abort();
}

struct Listed {
  std::vector<std::int32_t> starts{0};
  std::vector<Entry> entries;

  Rows rows() const { return Rows(Starts{starts}, entries); }
};

// Rows with entries from -1 to `bound`, and seldom others.
Listed take_rows(FuzzedDataProvider& bytes, int bound) {
  Listed found;
  const int count = bytes.ConsumeIntegralInRange(0, 12);
  for (int row = 0; row < count; ++row) {
    for (int left = bytes.ConsumeIntegralInRange(0, 7); left > 0; --left) {
      const auto entry = bytes.ConsumeIntegralInRange<std::int8_t>(-2, static_cast<std::int8_t>(bound));
      found.entries.push_back(entry == -2 ? bytes.ConsumeIntegral<Entry>() : entry);
    }
    const bool is_wrong = bytes.ConsumeIntegral<std::uint8_t>() == 255;
    found.starts.push_back(is_wrong ? bytes.ConsumeIntegral<std::int32_t>()
                                    : static_cast<std::int32_t>(found.entries.size()));
  }
  return found;
}

std::vector<std::uint8_t> take_marks(FuzzedDataProvider& bytes, std::size_t nodes) {
  const auto bits = bytes.ConsumeIntegral<std::uint8_t>();
  std::vector<std::uint8_t> marks;
  for (std::size_t node = 0; node < nodes; ++node) marks.push_back(bits >> node & 1);
  return marks;
}

struct Links {
  std::vector<Entry> sources, targets;
};

// All links but one between `nodes` nodes, one of them twice.
Links take_links(FuzzedDataProvider& bytes, std::size_t nodes) {
  Links links;
  const auto without = bytes.ConsumeIntegral<std::uint8_t>(), twice = bytes.ConsumeIntegral<std::uint8_t>();
  for (std::size_t pair = 0; pair < nodes * nodes; ++pair) {
    if (pair / nodes == pair % nodes || pair == without) continue;
    for (int times = pair == twice ? 2 : 1; times > 0; --times) {
      links.sources.push_back(static_cast<Entry>(pair / nodes));
      links.targets.push_back(static_cast<Entry>(pair % nodes));
    }
  }
  return links;
}

struct Trees {
  Listed listed;
  std::vector<Entry> roots;
  std::vector<std::int64_t> units;
  std::vector<std::uint8_t> may_be_root, may_end;
  bool reduces;

  verify::Forest forest() const { return {listed.rows(), roots, units, may_be_root, may_end, reduces}; }
};

Trees take_trees(FuzzedDataProvider& bytes, std::size_t nodes, std::size_t routes) {
  Trees trees{take_rows(bytes, static_cast<int>(routes)), {}, {}, {}, {}, bytes.ConsumeBool()};
  for (std::size_t tree = 1; tree < trees.listed.starts.size(); ++tree) {
    trees.roots.push_back(bytes.ConsumeIntegralInRange<std::int8_t>(-1, static_cast<std::int8_t>(nodes)));
    const auto shift = bytes.ConsumeIntegralInRange(0, 62);
    trees.units.push_back(std::numeric_limits<std::int64_t>::max() >> shift);
  }
  trees.may_be_root = take_marks(bytes, nodes);
  trees.may_end = take_marks(bytes, nodes);
  return trees;
}

using Loads = std::map<std::pair<Entry, Entry>, Wide>;

// Checks the trees of an accepted forest, and adds their units to the links of their routes.
void check_trees(const Trees& trees, const Rows& routes, const std::vector<std::uint8_t>& takes_part, Loads& loads) {
  const Rows listed = trees.listed.rows();
  for (std::size_t tree = 0; tree < listed.size(); ++tree) {
    std::set<Entry> entered{trees.roots[tree]};
    for (const Entry number : listed[tree].all()) {
      const auto route = routes[static_cast<std::size_t>(number)];
      require(entered.insert(trees.reduces ? route.front() : route.back()).second);
      for (std::size_t hop = 1; hop < route.size(); ++hop) loads[{route[hop - 1], route[hop]}] += trees.units[tree];
    }
    for (std::size_t node = 0; node < takes_part.size(); ++node) {
      require(!takes_part[node] || entered.count(static_cast<Entry>(node)) == 1);
    }
  }
}

void check_loads(const Links& links, const std::vector<std::int64_t>& found, Loads& loads) {
  require(found.size() == links.sources.size());
  for (std::size_t link = 0; link < found.size(); ++link) {
    Wide& load = loads[{links.sources[link], links.targets[link]}];
    require(found[link] == load);
    load = 0;  // of links with the same ends, the first has the load
  }
  for (const auto& [ends, load] : loads) require(load == 0);
}

void examine(FuzzedDataProvider& bytes) {
  const auto nodes = bytes.ConsumeIntegralInRange<std::size_t>(1, 6);
  const std::vector<std::uint8_t> is_compute = take_marks(bytes, nodes), may_end = take_marks(bytes, nodes);
  std::vector<std::uint8_t> takes_part = take_marks(bytes, nodes);
  for (std::size_t node = 0; node < nodes; ++node) takes_part[node] &= is_compute[node];
  const Links links = take_links(bytes, nodes);
  const Listed table = take_rows(bytes, static_cast<int>(nodes));
  const Rows routes = table.rows();
  std::vector<Trees> phases;
  for (int left = bytes.ConsumeIntegralInRange(1, 2); left > 0; --left) {
    phases.push_back(take_trees(bytes, nodes, routes.size()));
  }
  verify::Examination<std::int64_t> examination(is_compute, takes_part, may_end, links.sources, links.targets, routes);
  bool holds = true;
  for (const Trees& trees : phases) holds = holds && examination.trees_hold(trees.forest(), kNoPulse);
  if (holds && examination.routes_hold(kNoPulse)) {
    Loads loads;
    for (const Trees& trees : phases) check_trees(trees, routes, takes_part, loads);
    check_loads(links, examination.loads(), loads);
  }
  for (const Trees& trees : phases) {
    schedule::HeightSearch(routes, nodes, trees.reduces).run(trees.listed.rows(), kNoPulse);
    schedule::sends_of(routes, trees.listed.rows(), is_compute, kNoPulse);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  try {
    examine(bytes);
  } catch (const std::invalid_argument&) {  // the starts of rows are wrong
  } catch (const std::out_of_range&) {      // the walk for heights refuses a number
  }
  return 0;
}
