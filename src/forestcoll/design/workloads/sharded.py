"""One iteration of training whose parameters are sharded: FSDP, HSDP, with tensor and expert parallelism beside them.

A layout such as `tp=2,fsdp=8,dp=2` divides the ranks (`groups`). The ranks of an `fsdp` group hold parts
of the parameters and of their gradients. Before a layer is computed, in the forward pass and again in the backward
pass, an allgather collects its parameters. After its backward pass, a reduce-scatter adds up its gradients, and an
allreduce in the `dp` groups adds up the shards of the copies of the model (HSDP). The allgather of a layer is requested
when the layer before the one that is computed has ended, so two layers are whole at the same time, as in PyTorch. The
ranks of a `tp` group have a part of each layer, and add up activations after each layer in an allreduce that the
computation waits for.

The ranks of an `ep` group have parts of the experts of a layer. An all-to-all sends tokens to their experts before the
layer, and one sends them back after it, in both passes, and the computation waits for both. The parameters of an expert
are collected and added up in its own groups, after the dense ones. Without `ep`, they are collected like all others.

As in `iteration`, there are two streams. The communication stream runs one collective at a time, in the order of the
requests. Groups of one dimension run at the same time, and share the links.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from forestcoll.algorithms.generate import generate
from forestcoll.algorithms.method import method_of, require_supported
from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.design.workloads.groups import Role, TrainingGroups
from forestcoll.design.workloads.iteration import Activity, Interval, Iteration
from forestcoll.design.workloads.profile import Layer, Profile
from forestcoll.schedule.shape_of import shape_of
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology
from forestcoll.verification import certified, verify


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
        groups: the groups of the layout.
        method: the method that makes the schedules; None for the optimum.
        times: by group and collective; groups of one rank have none.
        bandwidth: the bandwidth of the links, relative to that with which `times` were computed.
    """

    network: str
    groups: TrainingGroups
    method: str | None
    times: Mapping[tuple[Role, Collective], SizedTime]
    bandwidth: float = 1.0

    @property
    def layout(self) -> Layout:
        """How ranks are divided."""
        return self.groups.layout

    @property
    def batches(self) -> int:
        """The number of batches of an iteration: the ranks of a `tp` group have one together."""
        return self.layout.ranks // self.layout.size("tp")

    def us(self, role: Role, collective: Collective, size: float) -> float:
        """Return the time of a collective of `size` bytes in all groups of a kind, in microseconds."""
        found = self.times.get((role, collective))
        return 0.0 if found is None else found.us(size / self.bandwidth)


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
        layout: the dimensions, such as `tp=2,fsdp=8`: of tp, ep, fsdp and dp.
        method: what makes the schedules of groups of all ranks, such as `nccl-ring`; None for the optimum.
        alpha_us: the latency of a send, in microseconds.
        progress: receives the stages.

    Raises:
        InputError: the layout is not valid, has another dimension or other ranks than the network; or `method` is
            unknown or does not apply, also since it makes no schedules for groups of some ranks.

    Example:
        >>> found = layout_times("dgx-a100:boxes=2", "fsdp=16", "nccl-ring", alpha_us=Fraction(10))
        >>> round(found.us(Role.SHARDS, Collective.ALLGATHER, 10**9))
        4988
    """
    network = load_topology(topology)
    groups = training_groups(network, layout, method)
    made: dict[Demand | Groups, CollectiveTime] = {}
    times = {}
    for role, collective, demand in groups.demands():
        progress.begin(f"the {collective} of {role}")
        if demand not in made:
            made[demand] = collective_time(network, demand, method, alpha_us=alpha_us)
        times[role, collective] = made[demand]
    return LayoutTimes(network.name, groups, method, times)


def training_groups(network: Topology, layout: str | Layout, method: str | None = None) -> TrainingGroups:
    """Return the groups of a layout.

    Raises:
        InputError: as `layout_times`, except for methods that only try says whether they apply to the network.
    """
    wanted = Layout.of(layout)
    wanted.check(network)
    groups = TrainingGroups(wanted)
    for role, collective, demand in groups.demands() if method is not None else ():
        known = method_of(method, collective, {})
        if isinstance(demand, Groups):
            raise InputError(
                f"method {shown(method)} makes no schedules for the groups of {role} in {wanted}; leave it out, or "
                "give a layout of one dimension"
            )
        require_supported(known, demand)
    return groups


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
        self._part = times.groups.size(Role.TENSORS)
        self._expert_part = self._part * times.groups.size(Role.EXPERTS)
        self._communicated = 0.0
        self.computed = 0.0
        self.intervals: list[Interval] = []

    def gather(self, layer: Layer, requested: float) -> float:
        """Return the time at which the parameters of a layer are there."""
        dense, experts = layer.parameter_bytes / self._part, layer.expert_bytes / self._expert_part
        ready = self._communicate(layer.name, Role.SHARDS, Collective.ALLGATHER, dense, requested)
        return self._communicate(f"{layer.name}: experts", Role.EXPERT_SHARDS, Collective.ALLGATHER, experts, ready)

    def exchange(self, name: str, layer: Layer) -> None:
        """Send tokens to the experts of a layer, or back, and wait for them."""
        self._wait(f"{layer.name}: {name}", Role.EXPERTS, Collective.ALL_TO_ALL, layer.exchange_bytes / self._part)

    def compute(self, kind: Activity, layer: Layer, ready: float) -> None:
        """Compute a layer as soon as its parameters are there, and add up its activations."""
        time = float(layer.forward_us if kind is Activity.FORWARD else layer.backward_us) / self._part
        begin = max(self.computed, ready)
        self.intervals.append(Interval(kind, layer.name, begin, begin + time))
        self.computed = begin + time
        self._wait(f"{layer.name}: activations", Role.TENSORS, Collective.ALLREDUCE, layer.tensor_bytes)

    def reduce(self, layer: Layer) -> None:
        """Add up the gradients of a layer."""
        dense, experts = layer.gradient_bytes / self._part, layer.expert_bytes / self._expert_part
        end = self._add(f"{layer.name}: gradients", Role.SHARDS, Role.COPIES, dense)
        end = max(end, self._add(f"{layer.name}: experts", Role.EXPERT_SHARDS, Role.EXPERT_COPIES, experts))
        if not self._overlaps:
            self.computed = max(self.computed, end)

    def _add(self, name: str, shards: Role, copies: Role, size: float) -> float:
        """Return the time at which gradients are added up: in their shards, and then the copies of these."""
        shard = size / self._times.groups.size(shards)
        end = self._communicate(name, shards, Collective.REDUCE_SCATTER, size, self.computed)
        return self._communicate(name, copies, Collective.ALLREDUCE, shard, end)

    def _wait(self, name: str, role: Role, collective: Collective, size: float) -> None:
        """Communicate while nothing is computed."""
        self.computed = max(self.computed, self._communicate(name, role, collective, size, self.computed))

    def _communicate(self, name: str, role: Role, collective: Collective, size: float, requested: float) -> float:
        time = self._times.us(role, collective, size)
        if not time:
            return requested
        begin = max(requested, self._communicated, 0.0 if self._overlaps else self.computed)
        self._communicated = begin + time
        self.intervals.append(Interval(Activity(collective), name, begin, self._communicated))
        return self._communicated


def sharded_iteration(profile: Profile, times: LayoutTimes, *, overlaps: bool = True) -> Iteration:
    """Return the timeline of an iteration with a layout.

    Args:
        profile: the model, on a node that has all of it.
        times: the layout, and the times of its collectives.
        overlaps: whether data moves while a layer is computed. Where it does not, the collectives need the processors
            of the GPU that the computation has (ForestColl §6.4).

    Raises:
        InputError: the layout needs sizes that no layer has, or more experts than a layer has.
    """
    forward = fitting_layers(profile, times.groups)
    streams = _Streams(times, overlaps=overlaps)
    for kind, layers in ((Activity.FORWARD, forward), (Activity.BACKWARD, forward[::-1])):
        ready = streams.gather(layers[0], streams.computed)
        for place, layer in enumerate(layers):
            later = place + 1 < len(layers)
            streams.exchange("tokens out", layer)
            fetched = streams.gather(layers[place + 1], streams.computed) if later and overlaps else 0.0
            streams.compute(kind, layer, ready)
            streams.exchange("tokens back", layer)
            if kind is Activity.BACKWARD:
                streams.reduce(layer)
            ready = fetched if overlaps or not later else streams.gather(layers[place + 1], streams.computed)
    return Iteration(tuple(streams.intervals))


def fitting_layers(profile: Profile, groups: TrainingGroups) -> tuple[Layer, ...]:
    """Return the layers of a model for the groups of a layout; without `ep`, experts are parameters like all others.

    Raises:
        InputError: as `sharded_iteration`.
    """
    layers = profile.trained_layers()
    for role, key in _NEEDED.items():
        if groups.size(role) > 1 and not any(getattr(layer, key) for layer in layers):
            raise InputError(
                f"{profile.name}: no layer has {key}, which {role} of {groups.layout} needs; use a profile with it, "
                "such as mixtral-8x7b"
            )
    parts = groups.size(Role.EXPERTS)
    for layer in layers:
        if layer.exchange_bytes and not layer.expert_bytes:
            raise InputError(
                f"{profile.name}: {layer.name} has exchange_bytes and no expert_bytes; a layout needs both"
            )
        if layer.experts % parts:
            raise InputError(
                f"{profile.name}: {layer.name} has {layer.experts} experts, which ep={parts} does not divide; give one "
                "of their divisors"
            )
    return layers if parts > 1 else tuple(map(_without_experts, layers))


_NEEDED = {Role.SHARDS: "parameter_bytes", Role.TENSORS: "tensor_bytes", Role.EXPERTS: "exchange_bytes"}
"""The sizes without which groups have nothing to do."""


def _without_experts(layer: Layer) -> Layer:
    return replace(
        layer,
        gradient_bytes=layer.gradient_bytes + layer.expert_bytes,
        parameter_bytes=layer.parameter_bytes + layer.expert_bytes,
        exchange_bytes=0,
        expert_bytes=0,
    )
