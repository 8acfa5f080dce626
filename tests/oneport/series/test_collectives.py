"""Series of scatters, gathers, reduces, allgathers and reduce-scatters: optimum, proof, file, simulation, refusals."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import Collective, optimum, verify
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import SERIES
from forestcoll.oneport import Platform, collective_series, steady_optimum
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.series.document import from_document, text_of
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.simulation.series.play import play_series
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples
from oneport_platforms import (
    broken,
    figure_1,
    half_duplex_platforms,
    one_port_platform,
    platform_of_costs,
    random_platforms,
    series_by_definition,
    two_way_platforms,
)

ONE_PORT_RING = replace(build_topology("ring:nodes=4"), port_model="one-port")


def series(topology: Topology, collective: Collective) -> SeriesSchedule:
    """Return the series with the root 0, as it is read from its file and verified."""
    made = collective_series(topology, collective, 0 if collective.has_root else None)
    read = from_document(json.loads("".join(text_of(made))), "file")
    assert read == made
    assert verify(read).optimal, verify(read).fault
    return read


@given(two_way_platforms(), st.sampled_from(SERIES))
@examples(150)
def test_the_optimum_is_the_one_over_all_trees_and_paths(topology: Topology, collective: Collective) -> None:
    assert series(topology, collective).throughput == series_by_definition(topology, collective)


@given(half_duplex_platforms(4), st.sampled_from([each for each in SERIES if each.has_root]))
@examples(60)
def test_half_duplex_nodes_on_odd_cycles_need_odd_sets(topology: Topology, collective: Collective) -> None:
    network = topology.transposed() if collective.flows_to_roots else topology
    assert series(network, collective).throughput <= series_by_definition(network, collective)


def test_the_three_ports_of_a_half_duplex_triangle_limit_an_allgather() -> None:
    triangle = replace(build_topology("ring:nodes=3"), port_model="half-duplex")
    schedule = series(triangle, Collective.ALLGATHER)
    assert schedule.throughput == Fraction(1, 6)  # 6 messages, one at a time; ports alone allow 1/4
    assert series_by_definition(triangle, Collective.ALLGATHER) == Fraction(1, 4)


@given(random_platforms(5, switches=2))
@examples(60)
def test_broadcasts_and_reduces_have_the_optimum_of_the_program_over_trees(topology: Topology) -> None:
    best = steady_optimum(Platform.of(topology, 0)).throughput
    assert series(topology, Collective.BROADCAST).throughput == best
    assert series(topology.transposed(), Collective.REDUCE).throughput == best


@pytest.mark.parametrize("collective", SERIES)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "torus:dims=3x3"])
def test_without_ports_the_optimum_is_that_of_the_collective(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    root = topology.nodes[topology.compute[0]].id
    demand = f"{collective.value}:root={root}" if collective.has_root else collective.value
    schedule = collective_series(topology, collective, root if collective.has_root else None)
    assert schedule.algbw == optimum(topology, demand).algbw
    assert verify(schedule).optimal


def test_a_series_of_scatters_of_figure_1_is_limited_by_the_port_of_the_source() -> None:
    schedule = collective_series(figure_1(), "scatter", "s")
    assert str(schedule.throughput) == "1/4"  # 4 messages of time 1
    assert str(schedule.algbw) == "5/4"
    assert [tree.edges[-1][1] for tree in schedule.trees] == [1, 2, 3, 4]


@given(two_way_platforms(), st.sampled_from(SERIES))
@examples(40)
def test_messages_arrive_within_the_makespan(topology: Topology, collective: Collective) -> None:
    schedule = series(topology, collective)
    if schedule.messages > 50:
        return
    run = play_series(schedule, 3 * schedule.messages)
    assert schedule.makespan(3) - schedule.period < run.makespan <= schedule.makespan(3)


def test_thirty_nodes_are_solved() -> None:
    topology = one_port_platform(30, 120, 1, 10)
    schedule = series(topology, Collective.ALLGATHER)
    entering = [max(link.bandwidth for link in topology.links if link.target == node) for node in topology.compute]
    assert schedule.throughput <= min(entering) / 29


def test_the_loads_are_those_of_the_data() -> None:
    ring = link_loads(series(ONE_PORT_RING, Collective.ALLGATHER))
    assert sum(ring.exact) == 3  # each of 4 messages of M/4 crosses 3 links


def test_what_has_no_series_is_refused() -> None:
    for collective, source, message in (
        ("allreduce", None, "there is no series of an allreduce; use one of allgather, "),
        ("scatter", None, "a series of a scatter needs a source"),
        ("allgather", 0, "an allgather has no source; leave it out"),
    ):
        with pytest.raises(InputError, match=f"^ring:nodes=4: {message}"):
            collective_series(ONE_PORT_RING, collective, source)
    with pytest.raises(NoSolutionError, match=r"source 's' cannot be reached from compute nodes '1', '2', '3' and 1 "):
        collective_series(figure_1(), "gather", "s")
    with pytest.raises(NoSolutionError, match=r"compute node 's' cannot be reached from compute nodes"):
        collective_series(figure_1(), "allgather")


def changed(collective: Collective, tree: int, routes: tuple[tuple[int, ...], ...]) -> SeriesSchedule:
    schedule = series(ONE_PORT_RING, collective)
    trees = list(schedule.trees)
    trees[tree] = replace(trees[tree], routes=routes)
    return replace(schedule, trees=tuple(trees))


def test_the_verifier_finds_trees_that_lack_messages() -> None:
    assert broken(changed(Collective.SCATTER, 0, ((0, 3),))) == (
        "weights",
        "the trees of 1 carry 0 messages a period; expected 1",
    )
    assert broken(changed(Collective.SCATTER, 0, ((0, 1), (0, 3)))) == (
        "trees",
        "tree 0 is not a path: it branches at 0",
    )
    assert broken(changed(Collective.GATHER, 0, ((1, 2),))) == ("trees", "tree 0: 2 sends before it is reached")
    assert broken(changed(Collective.ALLGATHER, 0, ((0, 1), (1, 2)))) == ("trees", "tree 0 does not reach 3")
    assert broken(changed(Collective.ALLGATHER, 0, ((1, 0), (1, 2), (2, 3)))) == (
        "weights",
        "the trees of 0 carry 0 messages a period; expected 1",
    )
    assert broken(changed(Collective.REDUCE, 0, ((0, 1), (1, 2), (2, 3)))) == (
        "trees",
        "tree 0: 3 sends before it is reached",
    )
    assert broken(changed(Collective.REDUCE, 0, ())) == ("trees", "tree 0 has no edges")


def test_a_bound_of_another_direction_proves_nothing() -> None:
    line = platform_of_costs("ab", [("a", "b", 1), ("b", "a", 2)])
    gathers, scatters = (collective_series(line, each, "a") for each in ("gather", "scatter"))
    assert (str(gathers.throughput), str(scatters.throughput)) == ("1/2", "1")
    assert gathers.bound is not None
    assert scatters.bound is not None
    swapped = replace(gathers, bound=replace(gathers.bound, proof=scatters.bound.proof))
    assert broken(swapped)[0] == "certificate"
    higher = replace(gathers, bound=replace(gathers.bound, algbw=gathers.bound.algbw + 1))
    assert broken(higher) == ("optimum", "the certificate proves 1/2, not the claimed 1")


def test_a_file_with_another_collective_or_a_source_too_many_is_refused() -> None:
    document = json.loads("".join(text_of(series(ONE_PORT_RING, Collective.ALLGATHER))))
    with pytest.raises(InputError, match=r"^file: an allgather has no source; leave it out$"):
        from_document(document | {"source": 0}, "file")
    with pytest.raises(InputError, match=r"^file: collective is 'allreduce'; expected one of 'allgather', "):
        from_document(document | {"collective": "allreduce"}, "file")
