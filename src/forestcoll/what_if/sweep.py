"""Many changes of one network, with any executor of `concurrent.futures`, and a file to go on from after a stop.

A process pool, a thread pool, MPI's `MPIPoolExecutor` and a Dask client's `get_executor()` all have `submit`. The
changes are sent in batches as JSON. Each worker keeps the network and the cuts of the batches that it had before.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from forestcoll.base.errors import InputError
from forestcoll.base.exact import MAX_RESULT_DIGITS, json_text, to_fraction
from forestcoll.base.files import PathLike, as_path, parse_document, read_bytes, write_text
from forestcoll.base.json_parts import numbers_below
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology, topology_from_document, topology_to_document
from forestcoll.topology.changes import Change
from forestcoll.what_if.value import Evaluator, Value

FORMAT = "forestcoll.what-if/1"
"""The format of the file of a sweep."""

BATCHES = 32
"""The number of batches of a sweep that are sent to workers or kept in a file."""


@dataclass(frozen=True)
class Sweep:
    """How a sweep is done.

    Attributes:
        executor: where the work is done; this process if None.
        checkpoint: a file that receives each finished batch, and from which finished changes are read; none if None.
        progress: receives the number of finished changes.
    """

    executor: Executor | None = None
    checkpoint: PathLike | None = None
    progress: Progress = SILENT

    def values(self, topology: Topology, demand: NodeDemand, changes: Sequence[Change]) -> list[Value]:
        """Return the optimum after each change, in the order of the changes.

        Raises:
            InputError: the file is of another network or demand, or cannot be read or written.
        """
        question = Question.of(topology, demand)
        file = (
            None
            if self.checkpoint is None
            else _Checkpoint(as_path(self.checkpoint), question.digest, len(topology.nodes))
        )
        known = {} if file is None else file.read()
        missing = [change for change in changes if _key(change) not in known]
        is_sent = self.executor is not None or file is not None
        size = max(1, -(-len(missing) // BATCHES)) if is_sent else 1
        batches = [missing[first : first + size] for first in range(0, len(missing), size)]
        for done, (batch, found) in enumerate(zip(batches, self._found(question, batches), strict=True)):
            known |= {_key(change): each for change, each in zip(batch, found, strict=True)}
            if file is not None:
                file.write(known)
            self.progress.advance(len(changes) - len(missing) + min(len(missing), (done + 1) * size), len(changes))
        return [_value_of_document(known[_key(change)]) for change in changes]

    def _found(self, question: "Question", batches: Sequence[Sequence[Change]]) -> Iterator[list[dict[str, object]]]:
        documents = [[change.document() for change in batch] for batch in batches]
        if self.executor is None:
            yield from (question.answers(batch) for batch in documents)
            return
        futures = [self.executor.submit(answers, question.network, question.request, batch) for batch in documents]
        yield from (future.result() for future in futures)


def answers(network: str, request: str, batch: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Return the values of a batch as JSON. A worker process calls this function."""
    return Question(network, request).answers(batch)


@dataclass(frozen=True)
class Question:
    """A network and a demand as text, which processes can exchange.

    Attributes:
        network: the JSON of the network.
        request: the JSON of the demand, in node numbers.
    """

    network: str
    request: str

    @staticmethod
    def of(topology: Topology, demand: NodeDemand) -> "Question":
        """Return the texts of a network and a demand with equal shards."""
        request = {
            "collective": demand.collective.value,
            "root": demand.root,
            "ranks": None if demand.ranks is None else list(demand.ranks),
        }
        return Question(json_text(topology_to_document(topology)), json.dumps(request))

    @property
    def digest(self) -> str:
        """A hash of both."""
        return hashlib.sha256(f"{self.network}\n{self.request}".encode()).hexdigest()

    def parsed(self) -> tuple[Topology, NodeDemand]:
        """Return the network and the demand."""
        topology = topology_from_document(json.loads(self.network), where="network", connected=False)
        request = json.loads(self.request)
        ranks = None if request["ranks"] is None else tuple(request["ranks"])
        return topology, NodeDemand(Collective(request["collective"]), root=request["root"], ranks=ranks)

    def answers(self, batch: Iterable[dict[str, object]]) -> list[dict[str, object]]:
        """Return the values of a batch as JSON."""
        evaluator = _evaluator(self)
        return [_document_of_value(evaluator.value(Change.from_document(each))) for each in batch]


@lru_cache(maxsize=2)
def _evaluator(question: Question) -> Evaluator:
    return Evaluator(*question.parsed())


@dataclass(frozen=True)
class _Checkpoint:
    path: Path
    digest: str
    nodes: int

    def read(self) -> dict[str, dict[str, object]]:
        """Return the values in the file; none if there is no file yet."""
        if not self.path.exists():
            return {}
        data = read_bytes(self.path)
        try:
            document = parse_document(data, self.path)
        except InputError:
            document = {}
        if document.get("format") != FORMAT or not isinstance(document.get("values"), dict):
            raise InputError(f"{self.path}: is not the file of a sweep; name another file")
        if document.get("question") != self.digest:
            raise InputError(f"{self.path}: is of another network or collective; name another file, or remove it")
        values = cast("dict[str, dict[str, object]]", document["values"])
        for each in values.values():
            self._check(each)
        return values

    def _check(self, document: dict[str, object]) -> None:
        try:
            numbers_below(document["cut"], self.nodes, "cut")
            _value_of_document(document)
        except (InputError, KeyError, TypeError, ValueError):
            raise InputError(f"{self.path}: a value of the sweep cannot be read; remove the file") from None

    def write(self, values: dict[str, dict[str, object]]) -> None:
        document = {"format": FORMAT, "question": self.digest, "values": values}
        write_text(self.path, [json.dumps(document), "\n"])


def _key(change: Change) -> str:
    document = change.document()
    return json.dumps([document["links"], document["nodes"], document["bandwidths"]])


def _document_of_value(value: Value) -> dict[str, object]:
    return {
        "algbw": str(value.algbw),
        "cut": list(value.cut),
        "proof": value.proof,
        "optimal": value.is_optimal,
    }


def _value_of_document(document: dict[str, object]) -> Value:
    algbw, cut, proof, optimal = (document[key] for key in ("algbw", "cut", "proof", "optimal"))
    if not (isinstance(algbw, str) and isinstance(proof, str) and isinstance(optimal, bool)):
        raise TypeError("a value of another kind")
    return Value(to_fraction(algbw, digits=MAX_RESULT_DIGITS), tuple(cast("list[int]", cut)), proof, optimal)
