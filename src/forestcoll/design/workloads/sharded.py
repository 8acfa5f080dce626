"""One iteration of training whose parameters are sharded: FSDP, HSDP, and tensor parallelism beside them.

A layout such as `tp=2,fsdp=8,dp=2` divides the ranks (`demand.groups.layout`). The ranks of an `fsdp` group hold parts
of the parameters and of their gradients. Before a layer is computed, in the forward pass and again in the backward
pass, an allgather collects its parameters. After its backward pass, a reduce-scatter adds up its gradients, and an
allreduce in the `dp` groups adds up the shards of the copies of the model (HSDP). The allgather of a layer is requested
when the layer before the one that is computed has ended, so two layers are whole at the same time, as in PyTorch. The
ranks of a `tp` group have a part of each layer, and add up activations after each layer in an allreduce that the
computation waits for.

As in `iteration`, there are two streams. The communication stream runs one collective at a time, in the order of the
requests. Groups of one dimension run at the same time, and share the links.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.design.workloads.iteration import Activity, Interval, Iteration
from forestcoll.design.workloads.profile import Layer, Profile
from forestcoll.schedule.shape_of import shape_of
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology
from forestcoll.verification import certified, verify

_COLLECTIVES = {
    "fsdp": (Collective.ALLGATHER, Collective.REDUCE_SCATTER),
    "dp": (Collective.ALLREDUCE,),
    "tp": (Collective.ALLREDUCE,),
}
"""The dimensions of a layout that the model has, and the collectives of their groups."""


class SizedTime(Protocol):
    """The time of a collective as a function of the size, such as a `CollectiveTime`."""

    def us(self, size: float) -> float:
        """Return the time of `size` bytes of data M, in microseconds; 0 without data."""


@dataclass(frozen=True)
class CollectiveTime:
    """The time of a collective as a function of the size.

    Attributes:
        latency_us: the time without data, in microseconds.
        rate: M / time for large data, in bytes per microsecond.
    """

    latency_us: float
    rate: float

    def us(self, size: float) -> float:
        """Return the time of `size` bytes of data M, in microseconds; 0 without data."""
        return self.latency_us + size / self.rate if size else 0.0


@dataclass(frozen=True)
class LayoutTimes:
    """The times of the collectives of a layout on a network.

    Attributes:
        network: the name of the network.
        layout: how ranks are divided.
        method: the method that makes the schedules; None for the optimum.
        times: by dimension and collective; a dimension of size 1 has none.
    """

    network: str
    layout: Layout
    method: str | None
    times: Mapping[tuple[str, Collective], SizedTime]

    @property
    def batches(self) -> int:
        """The number of batches of an iteration: the ranks of a `tp` group have one together."""
        return self.layout.ranks // self.size("tp")

    def size(self, dimension: str) -> int:
        """Return the size of a dimension; 1 if the layout does not have it."""
        return dict(self.layout.sizes).get(dimension, 1)

    def us(self, dimension: str, collective: Collective, size: float) -> float:
        """Return the time of a collective of `size` bytes in all groups of a dimension, in microseconds."""
        found = self.times.get((dimension, collective))
        return 0.0 if found is None else found.us(size)


def layout_times(
    topology: TopologyLike,
    layout: str | Layout,
    method: str | None = None,
    *,
    alpha_us: Fraction,
    progress: Progress = SILENT,
) -> LayoutTimes:
    """Return the times of the collectives of a layout: of the schedules that `generate` makes for its groups.

    Args:
        topology: the network.
        layout: the dimensions, such as `tp=2,fsdp=8`: of tp, fsdp and dp.
        method: what makes the schedules of groups of all ranks, such as `nccl-ring`; None for the optimum.
        alpha_us: the latency of a send, in microseconds.
        progress: receives the stages.

    Raises:
        InputError: the layout is not valid, has another dimension or other ranks than the network; or `method` is
            unknown or does not apply, also since it makes no schedules for groups of some ranks.

    Example:
        >>> found = layout_times("dgx-a100:boxes=2", "fsdp=16", "nccl-ring", alpha_us=Fraction(10))
        >>> round(found.us("fsdp", Collective.ALLGATHER, 10**9))
        4988
    """
    network, wanted = load_topology(topology), Layout.of(layout)
    wanted.check(network)
    times = {}
    for name, collective, demand in demands_of(wanted):
        progress.begin(f"the {collective} of {name}")
        if method is not None and isinstance(demand, Groups):
            raise InputError(
                f"method {shown(method)} makes no schedules for the groups of {name} in {wanted}; leave it out, or "
                "give a layout of one dimension"
            )
        times[name, collective] = collective_time(network, demand, method, alpha_us=alpha_us)
    return LayoutTimes(network.name, wanted, method, times)


def demands_of(layout: Layout) -> Iterator[tuple[str, Collective, Demand | Groups]]:
    """Yield each dimension of two or more ranks with its collectives, and what they are on the network.

    Raises:
        InputError: a dimension is not in the model of an iteration.

    Example:
        >>> [(name, str(collective)) for name, collective, _ in demands_of(Layout.of("fsdp=4,dp=2"))]
        [('fsdp', 'allgather'), ('fsdp', 'reduce-scatter'), ('dp', 'allreduce')]
    """
    for name, size in layout.sizes:
        if name not in _COLLECTIVES:
            raise InputError(f"layout: {name} is not in the model of an iteration; use {', '.join(_COLLECTIVES)}")
        for collective in _COLLECTIVES[name] if size > 1 else ():
            whole = size == layout.ranks
            yield name, collective, Demand(collective) if whole else Groups(str(layout), collective, run=name)


def collective_time(
    network: Topology, demand: Demand | Groups, method: str | None = None, *, alpha_us: Fraction
) -> CollectiveTime:
    """Return the time of the verified schedule that `generate` makes.

    Raises:
        InputError: as `generate`.
    """
    schedule = generate(network, demand, method)
    algbw = certified(verify(schedule)).algbw or Fraction(0)
    rate = float(algbw * bytes_per_microsecond(network.bandwidth_unit))
    return CollectiveTime(float(shape_of(schedule).hops * alpha_us), rate)


class _Streams:
    """The two streams during their construction. Times are in microseconds."""

    def __init__(self, times: LayoutTimes, *, overlaps: bool) -> None:
        self._times, self._overlaps = times, overlaps
        self._part = times.size("tp")
        self._communicated = 0.0
        self.computed = 0.0
        self.intervals: list[Interval] = []

    def gather(self, layer: Layer, requested: float) -> float:
        """Return the time at which the parameters of a layer are there."""
        size = layer.parameter_bytes / self._part
        return self._communicate(Activity.ALLGATHER, layer.name, "fsdp", Collective.ALLGATHER, size, requested)

    def compute(self, kind: Activity, layer: Layer, ready: float) -> None:
        """Compute a layer as soon as its parameters are there, and add up its activations."""
        time = float(layer.forward_us if kind is Activity.FORWARD else layer.backward_us) / self._part
        begin = max(self.computed, ready)
        self.intervals.append(Interval(kind, layer.name, begin, begin + time))
        self.computed = begin + time
        name, size = f"{layer.name}: activations", layer.tensor_bytes
        self.computed = max(
            self.computed,
            self._communicate(Activity.ALLREDUCE, name, "tp", Collective.ALLREDUCE, size, self.computed),
        )

    def reduce(self, layer: Layer) -> None:
        """Add up the gradients of a layer."""
        size = layer.gradient_bytes / self._part
        shard = size / self._times.size("fsdp")
        name = f"{layer.name}: gradients"
        scatter = Collective.REDUCE_SCATTER
        end = self._communicate(Activity.REDUCE_SCATTER, name, "fsdp", scatter, size, self.computed)
        end = self._communicate(Activity.ALLREDUCE, name, "dp", Collective.ALLREDUCE, shard, end)
        if not self._overlaps:
            self.computed = max(self.computed, end)

    def _communicate(  # noqa: PLR0913, PLR0917 (what a collective is)
        self, kind: Activity, name: str, dimension: str, collective: Collective, size: float, requested: float
    ) -> float:
        time = self._times.us(dimension, collective, size)
        if not time:
            return requested
        begin = max(requested, self._communicated, 0.0 if self._overlaps else self.computed)
        self._communicated = begin + time
        self.intervals.append(Interval(kind, name, begin, self._communicated))
        return self._communicated


def sharded_iteration(profile: Profile, times: LayoutTimes, *, overlaps: bool = True) -> Iteration:
    """Return the timeline of an iteration with a layout.

    Args:
        profile: the model, on a node that has all of it.
        times: the layout, and the times of its collectives.
        overlaps: whether data moves while a layer is computed. Where it does not, the collectives need the processors
            of the GPU that the computation has (ForestColl §6.4).

    Raises:
        InputError: a layer has experts, or the layout needs sizes that no layer has.
    """
    _check(profile, times)
    streams = _Streams(times, overlaps=overlaps)
    for kind, layers in ((Activity.FORWARD, profile.layers), (Activity.BACKWARD, profile.layers[::-1])):
        ready = streams.gather(layers[0], streams.computed)
        for place, layer in enumerate(layers):
            later = place + 1 < len(layers)
            fetched = streams.gather(layers[place + 1], streams.computed) if later and overlaps else 0.0
            streams.compute(kind, layer, ready)
            if kind is Activity.BACKWARD:
                streams.reduce(layer)
            ready = fetched if overlaps or not later else streams.gather(layers[place + 1], streams.computed)
    return Iteration(tuple(streams.intervals))


def _check(profile: Profile, times: LayoutTimes) -> None:
    layers = profile.trained_layers()
    if profile.has_exchanges:
        raise InputError(f"{profile.name}: has experts, and a layout has none; leave the layout out")
    for dimension, key, has in (
        ("fsdp", "parameter_bytes", any(layer.parameter_bytes for layer in layers)),
        ("tp", "tensor_bytes", any(layer.tensor_bytes for layer in layers)),
    ):
        if times.size(dimension) > 1 and not has:
            raise InputError(f"{profile.name}: no layer has {key}, which {dimension} of {times.layout} needs")
