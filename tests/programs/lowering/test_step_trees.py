"""Steps as trees: what the verifier of trees says about them, and the plans of MSCCL++ that they give."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given

from forestcoll import StepSchedule, find_topologies, generate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.design.realisation import schedule_of
from forestcoll.programs.formats import mscclpp
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, Style, lower, trees_of_steps
from forestcoll.programs.targets.mscclpp_json import MscclppJson
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.parts import shard_parts
from forestcoll.schedule.steps.routes import require_no_relays
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.tuning.programs.export import export
from forestcoll.verification import verify
from networks import examples
from refusal import refusal
from routed_steps import routed_schedules

ONE_SIDED = Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE)
COLLECTIVES = pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])


@examples(100)
@given(routed_schedules())
def test_the_trees_of_steps_are_trees_and_load_no_link_more(steps: StepSchedule) -> None:
    try:
        require_no_relays(steps)
    except InputError:
        assert "a transfer passes through a compute node" in refusal(trees_of_steps, steps)
        return
    trees = trees_of_steps(steps)
    report = verify(trees)
    assert report.ok, report.fault
    assert trees.algbw >= (step_shape(steps).algbw or 0)
    assert check(lower(steps, ONE_SIDED).program).ok


@COLLECTIVES
@pytest.mark.parametrize("method", ["bfb", "bfb:compact=true", "torus-rings"])
def test_the_parts_of_each_shard_cover_it_and_reach_every_rank(method: str, collective: str) -> None:
    steps = expanded_steps(generate("torus:dims=3x4", collective, method))
    for number in range(len(steps.phases)):
        parts = list(shard_parts(steps, number))
        for shard in steps.members:
            own = [part for part in parts if part.shard == shard]
            assert own[0].low == 0
            assert own[-1].high == 1
            assert all(one.high == other.low and one.paths != other.paths for one, other in pairwise(own))
        assert all(len({end for path in part.paths for end in path}) == 12 for part in parts)


def test_data_that_comes_twice_is_sent_once() -> None:
    first = [[(0, 0, 1), (1, 1, 0), (2, 2, 1), (0, 0, 2)], [(2, 1, 0), (1, 1, 2), (0, 1, 2)]]
    steps = StepSchedule.of_sends("ring:nodes=3", "allgather", first)
    assert verify(steps).ok
    trees = trees_of_steps(steps)
    assert verify(trees).ok
    assert [len(tree.routes) for tree in trees.phases[0]] == [2, 2, 2]
    assert (trees.algbw, step_shape(steps).algbw) == (Fraction(3, 2), Fraction(1))


@COLLECTIVES
@pytest.mark.parametrize("nodes", [8, 12])
def test_a_found_network_has_a_plan(nodes: int, collective: str) -> None:
    found = find_topologies(nodes, 4, bidirectional=True).members[-1]
    done = export(schedule_of(found, collective), "mscclpp-json")
    read = mscclpp.parse_plan(done.text, where="plan")
    assert mscclpp.plan_fault(read) is None
    assert check(mscclpp.to_program(read)).ok
    assert done.expected[-1].algbw > 0.9 * done.expected[-1].schedule_algbw


def test_a_plan_may_be_faster_than_its_steps_because_no_step_waits_for_another() -> None:
    done = export(generate("hypercube:dim=3", "allreduce", "halving-doubling"), "mscclpp-json")
    assert done.lowering.schedule_algbw == Fraction(4, 7)
    assert done.lowering.loss == 0
    assert done.lowering.schedule_algbw < done.expected[-1].algbw < done.lowering.algbw == 1


def test_a_plan_of_steps_that_does_not_fit_is_refused_with_the_limit() -> None:
    steps = generate("ring:nodes=40", method="ring")
    with pytest.raises(NoSolutionError, match=r"no program fits MSCCL\+\+, .* 5 thread blocks on rank 0, and 1 is the"):
        export(steps, MscclppJson(blocks=1))
    steps = generate("complete:nodes=20", method="bfb")
    fits = "a schedule in which a rank exchanges the data of a tree with at most 16 ranks"
    with pytest.raises(NoSolutionError, match=f"19 memory channels of a block .*; what fits is {fits}"):
        lower(steps, ONE_SIDED, mscclpp.limits())


def test_steps_over_links_that_lead_one_way_are_refused() -> None:
    steps = generate("diamond", method="bfb")
    assert "in MSCCL++ the receiver signals the sender; export to msccl-xml" in refusal(export, steps, "mscclpp-json")


def test_an_all_to_all_in_steps_is_refused() -> None:
    steps = generate("ring:nodes=4", Collective.ALL_TO_ALL, "steps")
    for target in ("mscclpp-json", "msccl-xml"):
        assert "an all-to-all in steps has no program; use a schedule of flows" in refusal(export, steps, target)
