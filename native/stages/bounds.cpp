#include "bounds/all_to_all.h"
#include "bounds/throughput.h"
#include "stages/stages.h"

namespace forestcoll {

template <class Capacity>
Bottleneck<Capacity> Bounds<Capacity>::bottleneck(const Problem<Capacity>& problem, Observer& observer) {
  return BottleneckSearch<Capacity>(problem.network, problem.terminals, problem.supplies(1)).run(observer);
}

template <class Capacity>
bool Bounds<Capacity>::supply_reaches_all(const Problem<Capacity>& problem, Capacity supply, Observer& observer) {
  return forestcoll::supply_reaches_all(problem.network, problem.terminals, problem.supplies(supply), observer);
}

template <class Capacity>
AllToAllSpread Bounds<Capacity>::spread_all_to_all(const Problem<Capacity>& problem, std::int64_t rounds, double gap,
                                                   Observer& observer) {
  return AllToAll<Capacity>(problem.network, problem.terminals).run(rounds, gap, observer);
}

template <class Capacity>
Capacity Bounds<Capacity>::distance_sum(const Problem<Capacity>& problem, const std::vector<Capacity>& lengths,
                                        Observer& observer) {
  return sum_of_distances(problem.network, problem.terminals, lengths, observer);
}

template struct Bounds<FORESTCOLL_WIDTH>;

}  // namespace forestcoll
