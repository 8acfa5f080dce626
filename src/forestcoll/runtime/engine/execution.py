"""A plan in the form that the engine runs on one rank; layouts and digests are kept by the size of the data."""

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from forestcoll.base.errors import InputError
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import PhaseOp
from forestcoll.runtime.engine.elements import ElementType, ReduceOp
from forestcoll.runtime.engine.exchange import Counts, ExchangeLayout, exchange_layout
from forestcoll.runtime.engine.plan import STAGING_BYTES, Edge, Plan, rates_of
from forestcoll.runtime.engine.sizing import Layout, layout_of
from forestcoll.runtime.engine.trees import Hop

if TYPE_CHECKING:
    from forestcoll.runtime import _runtime

_MOST_KEPT = 256
_PACE = Fraction(102, 100)
"""Connections are paced at a little more than the schedule's rate: 1.05 and more fills queues again."""


_Layout = TypeVar("_Layout", Layout, ExchangeLayout)


@dataclass(frozen=True, slots=True)
class Sized(Generic[_Layout]):
    """A layout in both forms.

    Attributes:
        layout: where the flows lie.
        native: the same for the engine of this rank.
        digest: a hash of the plan and the layout, equal on all ranks.
        descriptors: of the operations that were called, what names them in messages, and a hash, equal on all ranks.
    """

    layout: _Layout
    native: "_runtime.Layout"
    digest: bytes
    descriptors: dict[tuple[ElementType, ReduceOp], tuple[str, bytes]] = field(default_factory=dict)

    def descriptor(self, plan: Plan, element: ElementType, op: ReduceOp) -> tuple[str, bytes]:
        """Return what names the operation in messages, and its hash."""
        found = self.descriptors.get((element, op))
        if found is None:
            label = _label(plan, self.layout.count, element, op)
            found = label, hashlib.sha256(self.digest + label.encode()).digest()
            self.descriptors[element, op] = found
        return found


@dataclass
class Execution:
    """A plan on one rank.

    Attributes:
        plan: what is done.
        rank: the rank.
        lanes: the number of each lane of the group.
        pacing: whether the topology's bandwidths are real, and connections keep to the schedule's rates.
    """

    plan: Plan
    rank: int
    lanes: Mapping[Hop, int]
    pacing: bool
    native: "_runtime.Plan" = field(init=False)
    _rates: tuple[int, ...] | None = field(init=False)
    _sized: dict[tuple[int, tuple[int, ...] | None, int], Sized[Layout]] = field(init=False, default_factory=dict)
    _exchanged: dict[tuple[Counts, int], Sized[ExchangeLayout]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._rates = None
        if self.pacing:
            self._rates = rates_of(self.plan, bytes_per_microsecond(self.plan.unit) * 10**6 * _PACE)
        self.native = native_plan(self.plan, self.rank, self.lanes, self._rates)

    def sized(self, count: int, counts: Sequence[int] | None, itemsize: int) -> Sized[Layout]:
        """Return the layout for `count` elements of `itemsize` bytes, shards of `counts` elements."""
        from forestcoll.runtime._runtime import make_layout

        key = count, None if counts is None else tuple(counts), itemsize
        if (found := self._sized.get(key)) is not None:
            return found
        layout = layout_of(self.plan, count, counts, itemsize, self._rates)
        _make_room(self._sized)
        digest = self._digest(f"{count} {layout.counts} {itemsize}")
        self._sized[key] = Sized(layout, make_layout(list(layout.ranges)), digest)
        return self._sized[key]

    def exchanged(self, counts: Counts, itemsize: int) -> Sized[ExchangeLayout]:
        """Return the layout of flows for `counts` elements of `itemsize` bytes of each pair."""
        from forestcoll.runtime._runtime import make_layout

        if (found := self._exchanged.get((counts, itemsize))) is not None:
            return found
        layout = exchange_layout(self.plan, counts, itemsize, self._rates)
        place = self.plan.members.index(self.rank) if self.rank in self.plan.members else None
        _make_room(self._exchanged)
        digest = self._digest(f"{counts} {itemsize}")
        self._exchanged[counts, itemsize] = Sized(layout, make_layout(list(layout.rows(place))), digest)
        return self._exchanged[counts, itemsize]

    def _digest(self, text: str) -> bytes:
        return hashlib.sha256(self.plan.digest + text.encode()).digest()


def _label(plan: Plan, count: int, element: ElementType, op: ReduceOp) -> str:
    name = f"{plan.collective.value}({op.value})" if plan.collective.reduces else plan.collective.value
    root = "" if plan.root is None else f" with root {plan.root}"
    return f"{name} of {count} {element.text}{root}"


def _make_room(kept: dict[Any, Any]) -> None:
    """Remove the oldest entry if there are too many."""
    if len(kept) >= _MOST_KEPT:
        del kept[next(iter(kept))]


def new_engine(rank: int, timeout: float, group: str, dump: str) -> "_runtime.Engine":
    """Return an engine for `rank` of `group`, without connections yet, which writes the file `dump` when it fails.

    Raises:
        InputError: this platform has no engine.
    """
    try:
        from forestcoll.runtime._runtime import Engine
    except ImportError:
        raise InputError("the runtime was not built on this platform: it needs Linux; run it there") from None
    return Engine(rank, timeout, 2 * STAGING_BYTES, group, dump)


def stop(engine: "_runtime.Engine", running: deque[Any]) -> None:
    """End the engine's thread, and only then free the memory that it used."""
    engine.close(0.0)
    running.clear()


def native_plan(plan: Plan, rank: int, lanes: Mapping[Hop, int], rates: Sequence[int] | None) -> "_runtime.Plan":
    """Return what `rank` does in `plan`, for the engine."""
    from forestcoll.runtime._runtime import make_plan

    windows = plan.windows()

    def row(edge: Edge) -> tuple[int, int, int, int, int, int]:
        window = windows[edge.hop.target] if edge.is_staged else 0
        phase = 0 if edge.op is PhaseOp.REDUCE else 1
        return edge.number, edge.flow, phase, lanes[edge.hop], window, 0 if rates is None else rates[edge.number]

    incoming = [row(edge) for edge in plan.edges if edge.hop.target == rank]
    outgoing = [row(edge) for edge in plan.edges if edge.hop.source == rank]
    return make_plan(len(plan.flows), len(plan.edges), incoming, outgoing)
