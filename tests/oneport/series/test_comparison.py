from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.oneport import Platform, SeriesKind, compare_series
from forestcoll.oneport.series.best_dag import best_dag, first_receiver_bound
from forestcoll.oneport.series.best_tree import best_tree, tree_throughput
from forestcoll.oneport.series.dag import dag_optimum
from forestcoll.oneport.series.optimum import optimum_by_prices, steady_optimum
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples
from oneport_platforms import every_tree, figure_1, one_port_platform, platform_of_costs, random_platforms

FIGURE_3 = ((0, 1), (0, 2), (1, 3), (2, 4))
FIGURE_4 = ((0, 1), (1, 2), (1, 3), (2, 4))


@pytest.mark.parametrize(("routes", "throughput"), [(FIGURE_3, Fraction(1, 2)), (FIGURE_4, Fraction(2, 3))])
def test_the_two_trees_of_figures_3_and_4(routes: tuple[tuple[int, ...], ...], throughput: Fraction) -> None:
    assert tree_throughput(Platform.of(figure_1(), "s"), SeriesTree(Fraction(1), routes)) == throughput


def test_on_figure_1_the_graph_is_better_than_a_dag_and_a_dag_is_better_than_a_tree() -> None:
    compared = compare_series(figure_1(), "s")
    assert (compared.best.throughput, compared.dag.throughput, compared.tree.throughput) == (
        Fraction(1),
        Fraction(4, 5),
        Fraction(2, 3),
    )
    assert compared.dag.optimal
    assert compared.tree.optimal


def test_the_dag_of_figure_5_sends_as_in_section_4_4() -> None:
    found = dag_optimum(Platform.of(figure_1(), "s"), (0, 1, 2, 3, 4))
    assert [5 * rate for rate in found.rates] == [4, 1, 3, 4, 0, 4]
    assert [5 * tree.weight for tree in found.trees] == [1, 3]
    assert [set(tree.edges) for tree in found.trees] == [set(FIGURE_3), set(FIGURE_4)]


def test_figure_2_has_a_period_of_2_and_the_dag_one_of_5() -> None:
    compared = compare_series(figure_1(), "s", order=["s", "1", "2", "3", "4"])
    over_graph, over_dag = compared.schedule(), compared.schedule(SeriesKind.DAG)
    assert (str(over_graph.period), over_graph.messages) == ("2", 2)
    assert (str(over_dag.period), over_dag.messages) == ("5", 4)
    assert over_graph.initialisation == 4  # steady-state is reached at time-step 5
    assert over_graph.makespan(1) == 6


@given(random_platforms(5, skewed=True))
@examples(80)
def test_every_schedule_is_correct_and_reaches_the_throughput_of_its_restriction(topology: Topology) -> None:
    compared = compare_series(topology, 0)
    for along, throughput in (
        (SeriesKind.GRAPH, compared.best.throughput),
        (SeriesKind.DAG, compared.dag.throughput),
        (SeriesKind.TREE, compared.tree.throughput),
    ):
        schedule = compared.schedule(along)
        report = verify(schedule)
        assert report.fault is None
        assert schedule.throughput == report.throughput == throughput
        assert report.optimal == (throughput == compared.best.throughput)
    assert compared.tree.throughput <= compared.dag.throughput <= compared.best.throughput


@pytest.mark.parametrize(
    "platforms",
    [random_platforms(5, switches=2, skewed=True), random_platforms(6, duplex=True)],
    ids=["switches", "no ports"],
)
@given(st.data())
@examples(60)
def test_other_schedules_are_correct(platforms: st.SearchStrategy[Topology], data: st.DataObject) -> None:
    compared = compare_series(data.draw(platforms), 0)
    assert all(verify(compared.schedule(along)).ok for along in SeriesKind)


@given(st.one_of(random_platforms(5), random_platforms(3, switches=2)))
@examples(100)
def test_the_best_tree_is_the_best_of_all_trees(topology: Topology) -> None:
    """A tree may go through a switch several times."""
    platform = Platform.of(topology, 0)
    found = best_tree(steady_optimum(platform))
    every = (tree_throughput(platform, SeriesTree(Fraction(1), routes)) for routes in every_tree(platform))
    assert found.throughput == max(every)
    assert found.optimal


@given(st.one_of(random_platforms(5), random_platforms(4, switches=2, port_models=("one-port", "one-port-send"))))
@examples(60)
def test_the_best_dag_is_the_best_over_all_orders(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    best = steady_optimum(platform)
    found = best_dag(best, best_tree(best))
    throughputs = []
    for rest in permutations(platform.destinations):
        try:
            throughputs.append(dag_optimum(platform, (0, *rest)).throughput)
        except NoSolutionError:
            continue
    assert found.throughput == max(throughputs) == found.bound
    assert found.optimal
    assert found.throughput <= first_receiver_bound(platform)


@pytest.mark.parametrize(
    ("nodes", "links", "seed", "part"),
    [(20, 60, 2, Fraction(31, 33)), (25, 100, 2, Fraction(6, 7)), (30, 120, 2, Fraction(1))],
)
def test_the_best_dag_of_a_larger_platform_is_proven(nodes: int, links: int, seed: int, part: Fraction) -> None:
    best = steady_optimum(Platform.of(one_port_platform(nodes, links, 1, 10, seed), 0))
    found = best_dag(best, best_tree(best, search=False))
    assert found.optimal
    assert found.throughput == part * best.throughput


def test_the_first_receiver_of_the_second_box_limits_every_dag() -> None:
    best = steady_optimum(Platform.of(replace(build_topology("dgx-a100:boxes=2"), port_model="one-port"), 0))
    found = best_dag(best, best_tree(best, search=False))
    assert found.optimal
    assert found.throughput == 25  # all messages enter the second box over one network card


def test_a_dag_that_is_not_proven_has_a_bound() -> None:
    best = steady_optimum(Platform.of(one_port_platform(40, 300, 1, 10, 3), 0))
    found = best_dag(best, best_tree(best, search=False))
    assert found.throughput <= found.bound <= best.throughput
    assert found.optimal == (found.throughput == found.bound)


@given(random_platforms(5, switches=1, skewed=True))
@examples(60)
def test_a_dag_has_the_optimum_of_the_program_over_its_trees(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    best = steady_optimum(platform)
    found = best_dag(best, best_tree(best)).dag
    assert found.throughput == optimum_by_prices(replace(platform, order=found.order)).throughput
    assert sum(tree.weight for tree in found.trees) == found.throughput
    place = {node: number for number, node in enumerate(found.order)}
    assert all(place[route[0]] < place[route[-1]] for tree in found.trees for route in tree.routes)


def test_one_tree_is_used_if_one_tree_reaches_the_optimum() -> None:
    topology = platform_of_costs("abcd", [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("a", "d", 5), ("a", "c", 5)])
    assert len(compare_series(topology, "a").schedule().trees) == 1


def test_a_wrong_order_or_restriction_is_refused() -> None:
    for order, message in (
        (["1", "s", "2", "3", "4"], "platform: the order must start with the source, 's'"),
        (["s", "1", "2", "3"], "platform: the order lacks node '4'; add it"),
        (["s", "1", "1", "2", "3", "4"], "platform: the order has node '1' twice; remove one"),
        (["s", "1", "2", "3", "x"], "platform: no node 'x'; use the id of one of its nodes"),
    ):
        with pytest.raises(InputError, match=f"^{message}$"):
            compare_series(figure_1(), "s", order=order)
    message = r"^platform: node '3' has no link from an earlier node of the order; move it back$"
    with pytest.raises(NoSolutionError, match=message):
        compare_series(figure_1(), "s", order=["s", "3", "1", "2", "4"])
    with pytest.raises(InputError, match=r"^a series cannot run along 'ring'; there are graph, dag, tree$"):
        compare_series(figure_1(), "s").schedule("ring")
