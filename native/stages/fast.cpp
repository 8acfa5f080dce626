#include <memory>
#include <utility>

#include "generation/forest.h"
#include "generation/free_memory.h"
#include "stages/stages.h"

namespace forestcoll {

// What `grow(forest)` leaves in a new forest, whose memory is given back.
template <class Capacity, class Grow>
static Grown<Capacity> grown(std::unique_ptr<Forest<Capacity>> forest, Grow grow, Observer& observer) {
  grow(*forest);
  RoutedTrees<Capacity> trees = forest->trees(observer);
  Grown<Capacity> found{std::move(trees), forest->paths(observer), forest->counters()};
  forest.reset();
  give_back_free_memory();
  return found;
}

template <class Capacity>
Grown<Capacity> Fast<Capacity>::grow_trees(const Problem<Capacity>& problem, Capacity supply, bool prove,
                                           Observer& observer) {
  auto forest = std::make_unique<Forest<Capacity>>(problem.network, problem.terminals, problem.supplies(supply));
  return grown(std::move(forest), [&](auto& each) { each.run(prove, observer); }, observer);
}

template <class Capacity>
Grown<Capacity> Fast<Capacity>::grow_base_trees(const Problem<Capacity>& problem, Capacity supply, const Orbits& orbits,
                                                Observer& observer) {
  orbits.check(problem.network.nodes(), problem.network.arcs());
  auto forest =
      std::make_unique<Forest<Capacity>>(problem.network, problem.terminals, problem.supplies(supply), orbits);
  return grown(std::move(forest), [&](auto& each) { each.run_base_trees(orbits, observer); }, observer);
}

template struct Fast<FORESTCOLL_WIDTH>;

}  // namespace forestcoll
