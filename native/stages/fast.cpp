#include "generation/forest.h"
#include "stages/stages.h"

namespace forestcoll {

template <class Capacity>
static Grown<Capacity> members_of(Forest<Capacity>& forest, Observer& observer) {
  RoutedTrees<Capacity> trees = forest.trees(observer);
  return {std::move(trees), forest.paths(observer), forest.counters()};
}

template <class Capacity>
Grown<Capacity> Fast<Capacity>::grow_trees(const Problem<Capacity>& problem, Capacity supply, bool prove,
                                           Observer& observer) {
  Forest<Capacity> forest(problem.network, problem.terminals, problem.supplies(supply));
  forest.run(prove, observer);
  return members_of(forest, observer);
}

template <class Capacity>
Grown<Capacity> Fast<Capacity>::grow_base_trees(const Problem<Capacity>& problem, Capacity supply, const Orbits& orbits,
                                                Observer& observer) {
  orbits.check(problem.network.nodes(), problem.network.arcs());
  Forest<Capacity> forest(problem.network, problem.terminals, problem.supplies(supply), orbits);
  forest.run_base_trees(orbits, observer);
  return members_of(forest, observer);
}

template struct Fast<FORESTCOLL_WIDTH>;

}  // namespace forestcoll
