"""What an MPI library chooses by default for a collective, by the number of ranks and the size: `rules.csv`.

The last line that fits applies.

| column | content |
| --- | --- |
| library | a name in `LIBRARIES` |
| collective | the collective; a reduce-scatter is `MPI_Reduce_scatter_block` |
| if | `any`; or only for a `power of two` of ranks, with all ranks on `one host`, or with several `hosts of ranks` |
| ranks from | the least number of ranks N |
| size | what is compared: `M`, `M/N`, or `M/P`, with the greatest power of two P that is at most N |
| algorithms from bytes | each algorithm with the least size for which it is chosen |

Sources: for Open MPI, `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c` and `ompi/mca/coll/han`, for operations that
commute; for MPICH, the selection rules inside `libmpi.so`, for elements of 4 bytes. `tests/judges/test_mpi.py` asks the
libraries.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from forestcoll.base.errors import InternalError
from forestcoll.demand.collective import Collective

LIBRARIES = {"openmpi": "Open MPI 5.0.11", "mpich": "MPICH 5.0.2"}
"""The names in `compare` of the libraries, with their versions."""


@dataclass(frozen=True)
class Ranks:
    """The ranks of a job.

    Attributes:
        number: how many there are.
        hosts: the number of hosts.
    """

    number: int
    hosts: int

    def fulfil(self, condition: str) -> bool:
        """Return whether a condition of a rule holds."""
        return {
            "any": True,
            "power of two": self.number.bit_count() == 1,
            "one host": self.hosts == 1,
            "hosts of ranks": 1 < self.hosts < self.number,
        }[condition]

    def measured(self, size: int, what: str) -> int:
        """Return what a rule compares for a size M in bytes."""
        return {"M": size, "M/N": size // self.number, "M/P": size >> (self.number.bit_length() - 1)}[what]


@dataclass(frozen=True)
class _Rule:
    condition: str
    ranks: int
    what: str
    algorithms: tuple[tuple[int, str], ...]


def chosen_algorithm(library: str, collective: Collective, ranks: Ranks, size: int) -> str:
    """Return the algorithm that a library chooses for a size M in bytes, by the library's own name.

    Args:
        library: a name in `LIBRARIES`.
        collective: an allgather, a reduce-scatter, an allreduce or an all-to-all.
        ranks: the ranks, at least two.
        size: M in bytes.

    Example:
        >>> chosen_algorithm("openmpi", Collective.ALLREDUCE, Ranks(8, hosts=8), 2**20)
        'rabenseifner'
    """
    fitting = (
        rule
        for rule in reversed(_rules()[library, collective])
        if rule.ranks <= ranks.number and ranks.fulfil(rule.condition)
    )
    rule = next(fitting, None)
    if rule is None:
        raise InternalError(f"{library} has no rule for {collective.with_article} of {ranks.number} ranks")
    measured = ranks.measured(size, rule.what)
    return next(name for least, name in reversed(rule.algorithms) if least <= measured)


@cache
def _rules() -> dict[tuple[str, Collective], list[_Rule]]:
    found: dict[tuple[str, Collective], list[_Rule]] = {}
    for line in csv.DictReader(files("forestcoll.comparison.mpi").joinpath("rules.csv").read_text().splitlines()):
        parts = [part.split() for part in line["algorithms from bytes"].split(";")]
        algorithms = tuple((int(least), name) for least, name in parts)
        rule = _Rule(line["if"], int(line["ranks from"]), line["size"], algorithms)
        found.setdefault((line["library"], Collective(line["collective"])), []).append(rule)
    return found
