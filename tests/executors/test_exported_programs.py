"""Exported programs move the right data when the semantics of their runtimes run them, in random orders."""

import re
from functools import cache
from itertools import product

import plan_executor
import pytest
import xml_executor

from forestcoll import export, generate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.schedule.schedule import Schedule

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast:root=1", "reduce:root=1", "all-to-all")
XML = ("msccl-xml:dialect=microsoft", "msccl-xml:dialect=azure", "msccl-xml:dialect=rccl")
PLACES = ("in-place", "out-of-place")
PLANS = ("mscclpp-json:placement=in-place", "mscclpp-json:placement=out-of-place", "mscclpp-json:protocol=LL")
SMALL = ("mesh:dims=2x3", "dgx-a100:boxes=2,gpus=2")
LARGE = ("dgx-a100:boxes=2", "dgx-h100:boxes=1", "mi300x:boxes=1", "torus:dims=3x3")
QUICK = (
    "msccl-xml:dialect=azure,protocol=Simple,chunks=24,instances=1,pieces=1,step_chunks=2",
    *(f"{each},instances=1,pieces=2,step_chunks=8" for each in PLANS[:2]),
    PLANS[2],
)
"""Programs that are found without a search."""

REFUSED = {"reduce-scatter", "reduce:root=1", "all-to-all"}
"""What plans with packets have no program for."""


@cache
def schedule(spec: str, collective: str, method: str | None = None) -> Schedule:
    made: Schedule = generate(spec, collective) if method is None else generate(spec, collective, method)
    return made


def faults(text: str, root: int | None, orders: int, times: int = 3) -> list[str]:
    """Return what goes wrong in any order, at any size, in any place."""
    if text.startswith("{"):
        found = [
            plan_executor.run(text, seed=seed, root=root, times=times, rounds=2 + seed % 2) for seed in range(orders)
        ]
    else:
        found = [
            xml_executor.run(text, size, in_place=place, seed=seed, root=root, times=times)
            for size in xml_executor.sizes(text)
            for place in xml_executor.Algorithm(text).places
            for seed in range(orders)
        ]
    return [each for each in found if each is not None]


def check(spec: str, collective: str, target: str, orders: int, method: str | None = None) -> None:
    root = re.search("root=([0-9]+)", collective)
    made = schedule(spec, collective, method)
    exported = export(made, target)
    assert not faults(exported.text, None if root is None else int(root[1]), orders)


def has_program(collective: str, target: str) -> bool:
    if not target.startswith("mscclpp"):
        return True
    return not (collective in REFUSED and "LL" in target) and not (collective == "all-to-all" and "in-place" in target)


@pytest.mark.parametrize(("spec", "collective"), list(product(SMALL, COLLECTIVES)))
def test_programs_of_small_networks_are_right(spec: str, collective: str) -> None:
    for target in QUICK:
        if has_program(collective, target):
            check(spec, collective, target, 2)


@pytest.mark.slow
@pytest.mark.parametrize("target", [*XML, f"{XML[1]},protocol=LL", *PLANS])
@pytest.mark.parametrize(("spec", "collective"), list(product(SMALL + LARGE, COLLECTIVES)))
def test_programs_of_machines_are_right(spec: str, collective: str, target: str) -> None:
    if has_program(collective, target):
        check(spec, collective, target, 2)
    else:
        with pytest.raises((InputError, NoSolutionError), match=r"packets|out of place only"):
            export(schedule(spec, collective), target)


NVLS = "dgx-h100:boxes=1,gpus=4,nvls=true"


@pytest.mark.parametrize("collective", ["allreduce", "allgather", "broadcast:root=1"])
def test_programs_for_switches_that_copy_and_add_are_right(collective: str) -> None:
    target = "mscclpp-json:chunks=8,instances=1,pieces=2"
    assert ('"glres"' if collective == "allreduce" else '"gstore"') in export(schedule(NVLS, collective), target).text
    check(NVLS, collective, target, 4)


@pytest.mark.slow
@pytest.mark.parametrize("spec", [NVLS, "dgx-h100:boxes=1,nvls=true", "dgx-h100:boxes=2,gpus=4,nvls=true"])
@pytest.mark.parametrize("collective", ["allreduce", "allgather", "broadcast:root=1"])
def test_programs_for_switches_of_machines_are_right(spec: str, collective: str) -> None:
    check(spec, collective, "mscclpp-json", 2)


@pytest.mark.parametrize(("spec", "collective"), [("torus:dims=3x3", "allgather"), ("ring:nodes=4", "allreduce")])
def test_programs_of_steps_are_right(spec: str, collective: str) -> None:
    check(spec, collective, "msccl-xml:dialect=azure", 4, "bfb")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["nccl-ring", "recursive-doubling", "direct"])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_programs_of_algorithms_are_right(collective: str, method: str) -> None:
    for target in XML:
        check("dgx-a100:boxes=2,gpus=4", collective, target, 4, method)


def test_ranks_may_be_a_call_ahead_when_a_plan_with_packets_is_called_again_and_again() -> None:
    for collective in ("allgather", "allreduce", "broadcast:root=1"):
        text = export(schedule("mesh:dims=2x3", collective), "mscclpp-json:protocol=LL").text
        assert not faults(text, 1, 4, times=8)
