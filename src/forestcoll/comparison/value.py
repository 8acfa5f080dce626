"""The value of a comparison: a row for each schedule, and the algorithms that do not apply with the reason."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.algorithms.best_schedule import BestSchedule
from forestcoll.base.display import Displayed
from forestcoll.comparison.cuts import CutTraffic
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.choice.table import Choice
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import Costs, Point
from forestcoll.topology import Topology


@dataclass(frozen=True)
class Row:
    """One schedule of a comparison.

    Attributes:
        name: the algorithm, or the file.
        family: `trees`, `steps` or `flows`; `program` for a program from a file.
        schedule: the schedule; None for a program, and for a row that is not valid.
        algbw: what the schedule achieves for large data, in the topology's unit, as `verify` computed it.
        share: `algbw` as a part of the bound.
        height: the most sends one after another on the path of a piece of data, over all phases; the number of steps
            for a schedule of steps; None for a row that is not valid, and for a program that is too long to simulate.
        times: the simulated time for each size; none for a program that is too long to be simulated.
        reason: one sentence that says what limits the schedule or, if it is not valid, what its fault is.
        valid: whether the schedule or program of a file is right. If not, its algbw is 0.
        cuts: for each cut that limits the collective, the data that crosses it and the data that must.
        choices: in the rows of what NCCL chooses and of its best setting, the choice for each size; else empty.
        settings: in the row of the best setting, what the user sets for each size; else empty.
        table: in these rows, where NCCL's table comes from; else empty.
        algorithms: in the row of an MPI library, the algorithm that it chooses for each size; else empty.
        best: in the row `forestcoll`, the best schedule for each size, to which `times` belong; else empty.
    """

    name: str
    family: str
    schedule: Schedule | None
    algbw: Fraction
    share: Fraction
    height: int | None
    times: tuple[Point, ...]
    reason: str
    valid: bool = True
    cuts: tuple[CutTraffic, ...] = ()
    choices: tuple[Choice, ...] = ()
    settings: tuple[str, ...] = ()
    table: str = ""
    algorithms: tuple[str, ...] = ()
    best: tuple[BestSchedule, ...] = ()


@dataclass(frozen=True)
class Skipped:
    """An algorithm that does not apply.

    Attributes:
        name: the algorithm.
        reason: why it does not apply, in one sentence.
    """

    name: str
    reason: str


@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """Schedules of one collective on one network, compared with the optimum.

    Attributes:
        topology: the network.
        demand: the collective and its parameters.
        bound: the algbw that no schedule exceeds, with its proof.
        rows: the schedules, the fastest first; `forestcoll` is one of them.
        skipped: the algorithms that do not apply.
        costs: the costs of a send in the simulated times.

    Example:
        >>> from forestcoll import compare
        >>> found = compare("dgx-a100:boxes=2", baselines=["nccl-ring", "nccl-tree"])
        >>> found.row("nccl-ring").reason
        'data enters each box 1.88 times: 15/16 M where 1/2 M would do; NIC links 100% busy, nvswitch links 58%'
        >>> found.skipped[0].name, found.skipped[0].reason
        ('nccl-tree', 'not an algorithm for an allgather')
    """

    topology: Topology
    demand: NodeDemand
    bound: Bound
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...]
    costs: Costs

    def __repr__(self) -> str:
        names = ", ".join(row.name for row in self.rows)
        return f"<Comparison: {self.demand.collective.value} on {self.topology.name!r}: {names}>"

    @property
    def optimal_algbw(self) -> Fraction:
        """The algbw of the bound, in the topology's unit."""
        return self.bound.algbw

    @property
    def busbw_factor(self) -> Fraction:
        """Busbw / algbw, as nccl-tests defines both."""
        return self.demand.collective.busbw_factor(len(self.demand.members(self.topology)))

    def row(self, name: str) -> Row:
        """Return the row of an algorithm or file.

        Raises:
            KeyError: there is no such row.
        """
        for each in self.rows:
            if each.name == name:
                return each
        raise KeyError(name)

    def records(self) -> list[dict[str, object]]:
        """Return one flat dictionary for each row: `pandas.DataFrame(comparison.records())` makes a table of them.

        Exact values are given as floats. For each size there is a key such as `time_us_1048576`, and for each cut two
        keys such as `into_a_box` and `into_a_box_needed`.

        Example:
            >>> from forestcoll import compare
            >>> found = compare("dgx-a100:boxes=2", baselines=["nccl-ring", "two-level"], sizes=[2**30])
            >>> [(each["name"], each["into_a_box"]) for each in found.records()[1:]]
            [('two-level', 0.5), ('nccl-ring', 0.9375)]
        """
        return [
            {
                "name": row.name,
                "family": row.family,
                "algbw": float(row.algbw),
                "busbw": float(row.algbw * self.busbw_factor),
                "share": float(row.share),
                "valid": row.valid,
                "height": row.height,
                **{f"time_us_{point.size}": point.seconds * 1e6 for point in row.times},
                **{key: value for cut in row.cuts for key, value in _columns(cut).items()},
                "reason": row.reason,
            }
            for row in self.rows
        ]


def _columns(cut: CutTraffic) -> dict[str, float]:
    name = cut.cut.replace(" ", "_")
    return {name: float(cut.crosses), f"{name}_needed": float(cut.needed)}
