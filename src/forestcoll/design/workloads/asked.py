"""What `forestcoll train-time` is asked, and its answer: one iteration, or several side by side."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.design.workloads.cases import Case, Sweep
from forestcoll.design.workloads.iteration import DEFAULT_BUCKETS, Iteration, best_iteration, iterate
from forestcoll.design.workloads.network import NetworkRates, network_of_file
from forestcoll.design.workloads.profile import Profile
from forestcoll.design.workloads.samples import profile_of
from forestcoll.design.workloads.sharded import fitting_layers, layout_times, sharded_iteration, training_groups
from forestcoll.topology import Topology
from forestcoll.topology.registry import load_topology


@dataclass(frozen=True)
class TrainedOnce:
    """One iteration with data parallelism.

    Attributes:
        model: the model.
        network: the network.
        best: the iteration with the best bucket size.
        by_bucket: the time of an iteration in microseconds, by bucket size in bytes.
    """

    model: Profile
    network: NetworkRates
    best: Iteration
    by_bucket: dict[int, float]


@dataclass(frozen=True)
class Compared:
    """Iterations side by side.

    Attributes:
        name: the name of the model.
        cases: the iterations, at least one.
    """

    name: str
    cases: tuple[Case, ...]

    @property
    def networks(self) -> tuple[str, ...]:
        """The names of the networks, each once."""
        return tuple(dict.fromkeys(case.network for case in self.cases))


@dataclass(frozen=True)
class TrainingQuestion:
    """A question about the time of an iteration; its fields are the arguments and options of the command."""

    profile: str
    networks: tuple[str, ...]
    alpha: Fraction
    buckets: tuple[int, ...] | None
    layout: tuple[str, ...]
    method: tuple[str, ...]
    no_overlap: bool
    sweep: str | None

    def __post_init__(self) -> None:
        if not self.layout and (self.method or self.no_overlap):
            raise InputError("--method and --no-overlap are for sharded training; also give --layout, as in fsdp=16")
        if self.layout and self.buckets is not None:
            raise InputError("--buckets is for data parallelism; --layout adds up gradients by layer, so leave one out")

    def answer(self, progress: Progress) -> TrainedOnce | Compared:
        """Return the answer.

        Raises:
            InputError: a text is not valid, or the model, the networks and the layouts do not fit each other.
        """
        sweep = Sweep() if self.sweep is None else Sweep.of(self.sweep)
        if self.layout:
            return self._compared(self._sharded(sweep, progress))
        measured = [self._measured(each, progress) for each in dict.fromkeys(self.networks)]
        if len(measured) == 1 and self.sweep is None:
            return self._once(measured[0])
        return self._compared(case for each in measured for case in self._replicated(each, sweep))

    def _compared(self, cases: Iterator[Case]) -> Compared:
        return Compared(profile_of(self.profile).name, tuple(cases))

    def _measured(self, network: str, progress: Progress) -> NetworkRates:
        progress.begin("measuring the network")
        exchanges = profile_of(self.profile).has_exchanges
        return network_of_file(network, alpha_us=self.alpha, exchanges=exchanges, progress=progress)

    def _once(self, network: NetworkRates) -> TrainedOnce:
        model = profile_of(self.profile).on(network.nodes)
        sizes = self.buckets or DEFAULT_BUCKETS
        tried = {size: iterate(model, network, size).total_us for size in sizes}
        return TrainedOnce(model, network, best_iteration(model, network, sizes), tried)

    def _replicated(self, network: NetworkRates, sweep: Sweep) -> Iterator[Case]:
        """Yield iterations with data parallelism, each with its best bucket size."""
        model = profile_of(self.profile).on(network.nodes)
        for value in sweep.values:
            faster = network.faster(sweep.bandwidth(value))
            made = best_iteration(sweep.of_model(model, value), faster, self.buckets or DEFAULT_BUCKETS)
            yield Case(network.name, network.nodes, network.nodes * sweep.batches(value), made, sweep, value)

    def _sharded(self, sweep: Sweep, progress: Progress) -> Iterator[Case]:
        """Yield iterations with all layouts, each with all methods, and each of these with all values of the sweep."""
        for topology, model, layout, method in self._layouts():
            times = layout_times(topology, layout, method, alpha_us=self.alpha, progress=progress)
            for value in sweep.values:
                faster = replace(times, bandwidth=float(sweep.bandwidth(value)))
                made = sharded_iteration(sweep.of_model(model, value), faster, overlaps=not self.no_overlap)
                batches, nodes = times.batches * sweep.batches(value), times.layout.ranks
                yield Case(topology.name, nodes, batches, made, sweep, value, times.layout, method)

    def _layouts(self) -> list[tuple[Topology, Profile, str, str | None]]:
        """Return each network with the model on it, a layout and a method, which are checked before any work."""
        chosen: list[str | None] = [None, *dict.fromkeys(self.method)]
        found = []
        for topology in map(load_topology, dict.fromkeys(self.networks)):
            model = profile_of(self.profile).on(len(topology.compute))
            for layout, method in product(dict.fromkeys(self.layout), chosen):
                fitting_layers(model, training_groups(topology, layout, method))
                found.append((topology, model, layout, method))
        return found
