"""The loads of links of each kind of schedule, against plain sums over hops."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from forestcoll import Demand, Groups, Trees, generate
from forestcoll.oneport import compare_series
from forestcoll.schedule.flows.expansion import flow_images
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads import link_numbers
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import build_topology


def summed(schedule: TreeSchedule | FlowSchedule) -> list[Fraction]:
    """Return the loads of links, hop by hop."""
    found: Counter[tuple[int, int]] = Counter()
    if isinstance(schedule, FlowSchedule):
        paths = [(path, flow.share) for flow in flow_images(schedule) for path in flow.paths]
    else:
        whole = expanded(schedule)
        rows = list(whole.routes)
        paths = [(rows[each], tree.share) for phase in whole.phases for tree in phase for each in tree.routes]
    for path, share in paths:
        for hop in pairwise(path):
            found[hop] += share  # type: ignore[assignment]
    return [Fraction(found[ends]) for ends in schedule.topology.link_numbers]


@pytest.mark.parametrize("collective", ["allgather", "allreduce", "broadcast"])
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "torus:dims=3x4", "ring:nodes=5,bandwidth=25/3"])
@pytest.mark.parametrize("compact", [False, True])
def test_loads_of_trees(spec: str, collective: str, *, compact: bool) -> None:
    root = 0 if collective == "broadcast" else None
    schedule = generate(spec, Demand(collective, root=root), Trees(compact=compact))
    loads = link_loads(schedule)
    assert loads.exact == summed(schedule)
    assert loads.algbw(schedule.topology) >= schedule.algbw
    assert loads.parts.tolist() == pytest.approx([float(each) for each in loads.exact], rel=1e-15)


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "torus:dims=3x4", "mi250:boxes=1"])
def test_loads_of_flows(spec: str) -> None:
    schedule = generate(spec, "all-to-all")
    assert link_loads(schedule).exact == summed(schedule)
    assert link_loads(schedule).algbw(schedule.topology) == schedule.algbw


def test_loads_of_steps_series_and_groups() -> None:
    assert link_loads(generate("ring:nodes=4", method="bfb")).exact == [Fraction(3, 8)] * 8
    bundle = generate("ring:nodes=4", Groups("0,1;2,3", sizes="1,3"))
    one, other = (summed(each.schedule) for each in bundle.bundled)
    assert link_loads(bundle).exact == [each + 3 * more for each, more in zip(one, other, strict=True)]
    series = compare_series(build_topology("ring:nodes=4"), 0).schedule()
    assert sum(link_loads(series).exact) == 3  # a message reaches three nodes, over one link each


def test_sums_too_large_for_64_bits_are_exact() -> None:
    odd = "ring:nodes=3,bandwidth=1000000000000000000000000000057/1000000000000000000000000000000000007"
    schedule = generate(odd)
    assert link_loads(schedule).exact == summed(schedule)


def test_a_route_over_no_link_is_refused() -> None:
    with pytest.raises(ValueError, match="crosses no link"):
        link_numbers(build_topology("ring:nodes=4"), np.array([0]), np.array([2]))
