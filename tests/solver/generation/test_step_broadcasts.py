"""Broadcasts in steps: as fast as all step trees allow, as SCCL found on DGX-1, refused where they are too large."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.generation.step_trees import StepBroadcasts, cheapest
from forestcoll.solver.generation.step_trees.cheapest import CheapestTrees
from forestcoll.topology import Topology
from forestcoll.topology.registry import load_topology
from forestcoll.verification import StepReport, verify
from networks import SMALL, examples, networks

Sends = tuple[tuple[int, int], ...]


def made(topology: Topology | str, collective: str, steps: int | None = None) -> tuple[StepSchedule, StepReport]:
    schedule = generate(topology, collective, "steps" if steps is None else f"steps:steps={steps}")
    report = verify(schedule)
    assert isinstance(report, StepReport)
    assert report.fault is None, report.fault
    return schedule, report


def all_trees(topology: Topology, root: int, steps: int) -> Iterator[Sends]:
    """Yield every step tree of a root: each other node receives once, from a node that received before."""
    others = [node for node in range(len(topology.nodes)) if node != root]

    def grown(placed: dict[int, int], sends: Sends) -> Iterator[Sends]:
        if len(sends) == len(others):
            yield tuple(sorted(sends))
            return
        for link, each in enumerate(topology.links):
            if each.source in placed and each.target not in placed:
                for step in range(placed[each.source] + 1, steps):
                    yield from grown({**placed, each.target: step}, (*sends, (step, link)))

    yield from set(grown({root: -1}, ()))


def plain_factor(topology: Topology, steps: int) -> float:
    """Return the least T_B of an allgather by a linear program over all step trees of all roots."""
    nodes, links = len(topology.nodes), len(topology.links)
    scaled = ScaledTopology.of(topology)
    program = LinearProgram([1] * nodes + [0] * (links * steps))
    for step in range(steps):
        row = {nodes + step * links + link: each for link, each in enumerate(scaled.capacities)}
        program.add(Constraint(row, None, 1))
    for root in range(nodes):
        for tree in all_trees(topology, root, steps):
            program.add(Constraint({root: 1} | {nodes + step * links + link: -1 for step, link in tree}, None, 0))
    shards = float(sum(program.solve().values[:nodes]))
    return shards * float(max(topology.egress) / scaled.unit) / nodes


@examples(20)
@given(networks(kinds=st.just(SMALL), most=4, switches=False), st.integers(0, 1))
def test_no_packing_of_step_trees_is_faster(topology: Topology, more: int) -> None:
    steps = StepBroadcasts(topology).diameter + more
    schedule, report = made(topology, "allgather", steps)
    assert schedule.steps == steps
    assert report.bandwidth_factor is not None
    assert float(report.bandwidth_factor) == pytest.approx(plain_factor(topology, steps), rel=1e-9)


@examples(20)
@given(networks(kinds=st.just(SMALL), most=4, switches=False), st.data())
def test_no_step_tree_is_cheaper(topology: Topology, data: st.DataObject) -> None:
    steps = StepBroadcasts(topology).diameter + 1
    price = data.draw(st.sampled_from([1, 2**70]))  # machine words, or Python integers
    row = st.lists(st.integers(0, 9 * price), min_size=len(topology.links), max_size=len(topology.links))
    prices = data.draw(st.lists(row, min_size=steps, max_size=steps))
    roots = data.draw(st.sampled_from([(0,), tuple(range(len(topology.nodes)))]))
    for tree in CheapestTrees(topology, roots, steps).find(prices):
        trees = list(all_trees(topology, tree.root, steps))
        assert tree.sends in trees
        assert tree.price == sum(prices[step][link] for step, link in tree.sends)
        assert tree.price == min(sum(prices[step][link] for step, link in each) for each in trees)


@pytest.mark.parametrize(
    ("spec", "steps", "factor"),
    [
        # SCCL on DGX-1 (Cai et al., PPoPP 2021): 3 rounds for 2 chunks in 2 steps, 7 for 6 in 3; T_B is R/C 6/8
        ("dgx-1:boxes=1", 2, Fraction(3, 2) * Fraction(6, 8)),
        ("dgx-1:boxes=1", 3, Fraction(7, 6) * Fraction(6, 8)),
        ("ring:nodes=4", 2, Fraction(3, 4)),
        ("complete:nodes=4", 1, Fraction(3, 4)),
        ("diamond", 3, Fraction(7, 8)),  # breadth first: 1
        ("circulant:nodes=12,offsets=1+3+4+5", 2, Fraction(11, 12)),  # breadth first: 1
        ("kautz:degree=2,length=2", 3, Fraction(7, 6)),
        ("kautz:degree=2,length=2", 4, Fraction(29, 30)),
    ],
)
def test_the_least_times_of_networks(spec: str, steps: int, factor: Fraction) -> None:
    schedule, report = made(spec, "allgather", steps)
    assert (schedule.steps, report.bandwidth_factor) == (steps, factor)
    _, reversed_report = made(spec, "reduce-scatter", steps)
    assert reversed_report.bandwidth_factor == factor  # the transposed network is isomorphic


def test_an_allreduce_divides_its_steps_best() -> None:
    factors = [made("dgx-1:boxes=1", "allreduce", steps)[1].bandwidth_factor for steps in (4, 5, 6)]
    assert factors == [Fraction(9, 4), Fraction(2), Fraction(7, 4)]


def test_too_few_steps_are_refused() -> None:
    with pytest.raises(InputError, match="an allreduce takes 4 steps or more; steps is 3"):
        generate("ring:nodes=4", "allreduce", "steps:steps=3")


def test_a_program_that_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match=r"more symmetry, or --method bfb"):
        generate("torus:dims=5x5", method="steps")


def test_a_network_with_switches_is_refused() -> None:
    with pytest.raises(InputError, match="is a switch"):
        generate("dgx-a100:boxes=2,gpus=2", method="steps")


def test_the_work_is_counted() -> None:
    ring = load_topology("ring:nodes=4")
    assert cheapest.additions(ring, (0,), 2) == 27  # before the last step only the root has its data
    assert cheapest.additions(ring, (0,), 3) == (1 + 3) * 27
