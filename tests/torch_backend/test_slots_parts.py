"""The parts of two levels and slots that need no group."""

import doctest
from importlib import import_module

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")

from forestcoll import Collective, InputError, generate, load_topology
from forestcoll.measurement.bench.cuda import CudaRequest, measure_ways
from forestcoll.runtime import plan_of
from forestcoll.torch.slots.boxes import EqualBoxes, boxes_of, check_hosts, equal_boxes
from forestcoll.torch.slots.two_level import STAGES, require_forest
from refusal import refusal


@pytest.mark.parametrize("name", ["boxes", "movement", "two_level"])
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(import_module(f"forestcoll.torch.slots.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("collective", STAGES)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "dgx-h100:boxes=4", "mi300x:boxes=3"])
def test_what_two_levels_execute_is_the_verified_forest(spec: str, collective: Collective) -> None:
    topology = load_topology(spec)
    plan = plan_of(generate(topology, collective, "two-level"))
    boxes = equal_boxes(topology, boxes_of(topology))
    require_forest(plan, boxes)
    stages = STAGES[collective]
    for wrong in (stages[:-1], (stages[1], stages[0], *stages[2:])):
        assert "over other ranks than those of its rail" in refusal(require_forest, plan, boxes, wrong)


def test_a_forest_with_other_trees_in_its_boxes_is_refused() -> None:
    topology = load_topology("mi250:boxes=2,gpus=8")
    with pytest.raises(InputError, match="use cuda='slots'"):
        require_forest(plan_of(generate(topology, "allgather", "two-level")), EqualBoxes(2, 8))


@pytest.mark.parametrize(
    ("spec", "boxes", "expected"),
    [
        ("ring:nodes=4", [], "4 of 4 ranks are in no box"),
        ("dgx-a100:boxes=1", [range(8)], "in one box"),
        ("ring:nodes=2", [[0], [1]], "in boxes of one rank"),
        ("ring:nodes=5", [[0, 1, 2], [3, 4]], "the boxes have 3, 2 ranks; two levels need equal boxes"),
        ("ring:nodes=4", [[0, 2], [1, 3]], "ranks are not numbered box by box"),
    ],
)
def test_boxes_that_two_levels_cannot_use_are_refused(spec: str, boxes: list[list[int]], expected: str) -> None:
    assert expected in refusal(equal_boxes, load_topology(spec), boxes)


def test_a_host_with_ranks_of_two_boxes_needs_both_of_them() -> None:
    boxes = [[0, 1], [2, 3]]
    for hosts in ("aabb", "aaaa", "abcd"):  # the last is a box of several hosts, such as a rack
        check_hosts(boxes, hosts)
    for hosts in ("abab", "aaba"):
        message = refusal(check_hosts, boxes, hosts)
        assert "start the ranks in the order of the boxes" in message
    assert "ranks 0, 1 are one box of the topology, but run on hosts a, b, and rank 2 of another box on a" in refusal(
        check_hosts, boxes, "abab"
    )


def test_bench_of_cuda_tensors_needs_a_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv("FORESTCOLL_CUDA_DEVICE", "cpu")
    request = CudaRequest("ring:nodes=2", (4096,))
    assert "--cuda runs on several ranks of torch; start it by 'torchrun" in refusal(measure_ways, request, print)
