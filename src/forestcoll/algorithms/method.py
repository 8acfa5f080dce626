"""What a method is: a value that makes a schedule for a problem. Each method is declared in a file of this room.

    @methods.add("double-binary-tree")
    @dataclass(frozen=True)
    class DoubleBinaryTree(Method):
        collectives = (Collective.ALLREDUCE,)
        chunks: int = integer(1, "chunks in the pipeline")

        def schedule(self, problem: Problem) -> StepSchedule: ...

Its fields are the keys of its text, `double-binary-tree:chunks=4`. What a method does not declare, it does not take:
`require_supported` refuses all other demands in one line. Algorithms of other libraries are methods without fields
(`baseline`). `by_size=` names the texts of a method that may be the best for some size (`by_size`), and `by_size_for=`
their collectives, if not all.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from forestcoll.algorithms.best_schedule import BestOverSizes, OptimumFrom
from forestcoll.algorithms.boxes import Boxes
from forestcoll.base.errors import InputError, shown
from forestcoll.base.parameters import check_fields
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.registry import Registry
from forestcoll.demand.collective import UNROOTED, Collective, collective_named
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.schedule.proof.optimum import CollectiveOptimum, Optimum
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.topology.graph.routes import Routes

if TYPE_CHECKING:
    from forestcoll.solver.survival.schedule import Survival

methods = Registry(
    "method", ("forestcoll.algorithms", "forestcoll.algorithms.steps", "forestcoll.algorithms.direct_networks")
)
"""All methods by name."""

OPTIONS = {"k": "--trees", "most": "--max-trees", "peers": "--max-peers"}
"""The options of the command line for parameters of methods; other parameters have options of their own name."""


class DoesNotApplyError(InputError):
    """The algorithm has no meaning on the network or for the collective. The message says why, in one line."""


@dataclass(frozen=True)
class Problem:
    """A collective on a network, as a method receives it.

    Attributes:
        topology: the network.
        demand: the collective and its parameters, in node numbers of the network.
        size: the data size M in bytes, if the schedule is for one size.
        order: the order of the boxes, by their places; None for that of the network.
        progress: receives the stages of the work.
        known: the optimum, if it is known; see `optimum`.
    """

    topology: Topology
    demand: NodeDemand
    size: int | None = None
    order: tuple[int, ...] | None = None
    progress: Progress = field(default=SILENT, repr=False, compare=False)
    known: CollectiveOptimum | None = field(default=None, repr=False, compare=False)

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.demand.collective

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, in ascending order."""
        return self.demand.members(self.topology)

    @cached_property
    def share(self) -> Fraction:
        """The part of the data of each member: 1/N."""
        return Fraction(1, len(self.members))

    @cached_property
    def routes(self) -> Routes:
        """The routes between compute nodes."""
        return Routes(self.topology)

    @cached_property
    def boxes(self) -> Boxes:
        """The boxes of the network."""
        return Boxes(self.topology, self.members, self.order)

    def require_boxes(self) -> None:
        """Raise `DoesNotApplyError` if a compute node that takes part is in no box."""
        if not self.boxes.is_complete:
            raise DoesNotApplyError("some compute nodes are in no box; the algorithm needs the node attribute 'box'")

    @cached_property
    def transposed_boxes(self) -> Boxes:
        """The boxes of the network with every link reversed. Its exits are the reversed paths into boxes."""
        transposed = self.transposed()
        return self.boxes if transposed is self else transposed.boxes

    @cached_property
    def optimum(self) -> CollectiveOptimum:
        """The optimum, without limits: of trees, or of flows if each pair of nodes exchanges data of its own."""
        if self.known is not None:
            return self.known
        if self.collective.is_personalised:
            from forestcoll.solver.personalised import solve_flows

            return solve_flows(self.topology, self.demand, progress=self.progress)
        from forestcoll.solver.optimum import solve

        return solve(self.topology, self.demand, progress=self.progress)

    def silent(self) -> "Problem":
        """Return the problem with its optimum, for work whose stages are not reported."""
        return replace(self, progress=SILENT, known=self.optimum)

    def transposed(self) -> "Problem":
        """Return the problem on the network with every link reversed: itself if that is the same network."""
        return self._transposed or self

    @cached_property
    def _transposed(self) -> "Problem | None":
        topology = self.topology.transposed()
        is_same = (topology.nodes, topology.links) == (self.topology.nodes, self.topology.links)
        return None if is_same else replace(self, topology=topology, known=None)


class Method(ABC):
    """How a schedule is made: a frozen dataclass, or a text such as `trees:k=4`.

    Attributes:
        collectives: the collectives that it makes schedules of.
        takes: what else it takes of a demand and its size: `ranks`, `shards`, `matrix`, `size`.

    Raises:
        InputError: a value of a field is out of range, or two values exclude each other.
    """

    collectives: ClassVar[tuple[Collective, ...]] = UNROOTED
    takes: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        """Check the values of the fields in the same way as those of a text."""
        check_fields(self, self.name)
        if (problem := self.problem()) is not None:
            raise InputError(f"{self.name}: {problem}")

    @property
    def name(self) -> str:
        """The name of the method."""
        return methods.name_of(type(self))

    def __str__(self) -> str:
        return methods.text(self)

    def problem(self) -> str | None:
        """Return what is wrong with the combination of values and how to fix it, or None."""
        return None

    @abstractmethod
    def schedule(self, problem: Problem) -> Schedule:
        """Return the schedule for a problem. It is not verified yet."""

    def optimum(self, problem: Problem) -> CollectiveOptimum:  # noqa: ARG002 (for methods that have one)
        """Return the optimum that the schedule reaches, without making it.

        Raises:
            InputError: the method has no optimum of its own.
        """
        raise InputError(f"{self.name} has no optimum of its own; leave the method out, or generate its schedule")

    def generated(self, problem: Problem) -> "Generated":
        """Return the schedule for a problem, with the optimum that it reaches, if the method has one."""
        return Generated(self.schedule(problem), None)

    def with_gain(self, best: CollectiveOptimum, progress: Progress) -> CollectiveOptimum:  # noqa: ARG002 (for trees)
        """Return an optimum with what idle nodes gain as relays, if the method has a way to compute it."""
        return best


@dataclass(frozen=True)
class Generated:
    """A schedule, and the optimum that it reaches.

    Attributes:
        schedule: the schedule. It is not verified yet.
        optimum: the optimum with the algbw of the schedule; None if the method has no optimum of its own.
        choice: how the schedule was chosen for a size; None if no size was given.
        best_from: from which size on the optimum is the best; None if this is not known.
        survival: what is left of the schedule after failures; None if it was not made for them.
    """

    schedule: Schedule
    optimum: Optimum | None
    choice: BestOverSizes | None = None
    best_from: OptimumFrom | None = None
    survival: "Survival | None" = None


def method_of(method: Method | str | None, collective: Collective, given: Mapping[str, object]) -> Method:
    """Return the method that a value or a text stands for; `auto` and None are trees or flows, as the collective needs.

    Args:
        method: the method.
        collective: the collective.
        given: more values of its parameters, as options give them.

    Raises:
        InputError: there is no such method, or it has no such parameter.
    """
    if isinstance(method, Method):
        return replace(method, **given) if given else method  # type: ignore[type-var]
    if method is not None and not isinstance(method, str):
        raise InputError(f"method is {shown(method)}; expected a text such as trees:k=4, or a method")
    head, _, rest = ("auto" if method is None else method).partition(":")
    spec = methods.named(("flows" if collective.is_personalised else "trees") if head == "auto" else head)
    methods.require(spec, given, OPTIONS)
    found: Method = spec.make(**{**(spec.values(rest) if rest else {}), **given})
    return found


def require_supported(method: Method, demand: Demand, size: int | None = None) -> None:
    """Check that a method takes all that a demand has, and the data size.

    Raises:
        InputError: the parameters of the demand exclude each other; or the method does not make this collective, or
            does not take the ranks, the shards, the matrix or the size. The message names a way out.
    """
    if (problem := demand.problem()) is not None:
        raise InputError(problem)
    kind = collective_named(demand.collective)
    if kind not in method.collectives:
        known = ", ".join(method.collectives)
        fit = "flows" if kind.is_personalised else "trees"
        raise InputError(f"{method.name} is not a method for {kind.with_article}, only for {known}; use {fit}")
    has = {"ranks": demand.ranks, "shards": demand.shards, "matrix": demand.matrix, "size": size}
    for part, value in has.items():
        if value is not None and part not in method.takes:
            raise InputError(f"{method.name} takes no {part}; leave {part} out, or use another method")
