#include "generation/breadth_first.h"
#include "stages/stages.h"

namespace forestcoll {

template <class Capacity>
StepTransfers<Capacity> Steps<Capacity>::broadcast_breadth_first(const Problem<Capacity>& problem, Capacity demand,
                                                                 const std::vector<Capacity>& latencies,
                                                                 Capacity chunks, const IntList& targets,
                                                                 Observer& observer) {
  return BreadthFirstBroadcast<Capacity>(problem.network, latencies, demand, chunks)
      .run(targets.empty() ? problem.terminals : targets, observer);
}

template struct Steps<FORESTCOLL_WIDTH>;

}  // namespace forestcoll
