"""Many changes of one network, with any executor of `concurrent.futures`.

A process pool, a thread pool, MPI's `MPIPoolExecutor` and a Dask client's `get_executor()` all have `submit`. The
changes are sent in batches, and the network as text. Each worker keeps the network and the cuts of the batches that it
had before.
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache

from forestcoll.base.exact import json_text
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology, topology_from_document, topology_to_document
from forestcoll.topology.changes import Change
from forestcoll.what_if.value import Evaluator, Value

BATCHES = 32
"""The number of batches that are sent to workers."""


@dataclass(frozen=True)
class SweepRunner:
    """How a sweep is done.

    Attributes:
        executor: where the work is done; this process if None.
        progress: receives the number of finished changes.
    """

    executor: Executor | None = None
    progress: Progress = SILENT

    def values(self, topology: Topology, demand: NodeDemand, changes: Sequence[Change]) -> list[Value]:
        """Return the optimum after each change, in the order of the changes."""
        found: list[Value] = []
        for batch in self._batches(topology, demand, changes):
            found += batch
            self.progress.advance(len(found), len(changes))
        return found

    def _batches(self, topology: Topology, demand: NodeDemand, changes: Sequence[Change]) -> Iterator[list[Value]]:
        if self.executor is None:
            evaluator = Evaluator(topology, demand)
            yield from ([evaluator.value(change)] for change in changes)
            return
        question, size = SweepTask.of(topology, demand), max(1, -(-len(changes) // BATCHES))
        batches = [changes[first : first + size] for first in range(0, len(changes), size)]
        futures = [self.executor.submit(values_of, question, batch) for batch in batches]
        yield from (future.result() for future in futures)


@dataclass(frozen=True)
class SweepTask:
    """A network and a demand as text, which processes can exchange.

    Attributes:
        network: the JSON of the network.
        request: the JSON of the demand, in node numbers.
    """

    network: str
    request: str

    @staticmethod
    def of(topology: Topology, demand: NodeDemand) -> "SweepTask":
        """Return the texts of a network and a demand with equal shards."""
        request = {
            "collective": demand.collective.value,
            "root": demand.root,
            "ranks": None if demand.ranks is None else list(demand.ranks),
        }
        return SweepTask(json_text(topology_to_document(topology)), json.dumps(request))

    def parsed(self) -> tuple[Topology, NodeDemand]:
        """Return the network and the demand."""
        topology = topology_from_document(json.loads(self.network), where="network", connected=False)
        request = json.loads(self.request)
        ranks = None if request["ranks"] is None else tuple(request["ranks"])
        return topology, NodeDemand(Collective(request["collective"]), root=request["root"], ranks=ranks)


def values_of(question: SweepTask, batch: Sequence[Change]) -> list[Value]:
    """Return the optimum after each change of a batch. A worker process calls this function."""
    evaluator = _evaluator(question)
    return [evaluator.value(change) for change in batch]


@lru_cache(maxsize=2)
def _evaluator(question: SweepTask) -> Evaluator:
    return Evaluator(*question.parsed())
