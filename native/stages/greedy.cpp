#include "stages/stages.h"

namespace forestcoll {

template <class Capacity>
TakenChunks<Capacity> Greedy<Capacity>::take_chunks(const ChunkPaths<Capacity>& paths, std::int32_t chunks,
                                                    std::uint32_t seed, Observer& observer) {
  return ChunkTaking<Capacity>(paths, chunks, seed).run(observer);
}

template <class Capacity>
std::optional<TurnPaths> Greedy<Capacity>::take_turns(const TurnLinks<Capacity>& links, IntList members, TurnRule rule,
                                                      Observer& observer) {
  return TakingTurns<Capacity>(links, std::move(members), rule).run(observer);
}

template <class Capacity>
ShallowForest Greedy<Capacity>::grow_shallow(const ShallowSends<Capacity>& sends, const IntList& roots,
                                             std::int32_t more, std::int32_t height, std::int32_t passes,
                                             Observer& observer) {
  return ShallowTrees<Capacity>(sends, height, observer).run(roots, more, passes);
}

template struct Greedy<FORESTCOLL_WIDTH>;

}  // namespace forestcoll
