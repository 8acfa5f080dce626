"""SimGrid simulates the sends of schedules, sharing links by max-min, and `simulate` states the same times.

The sends are read from schedule files, as `docs/formats` describes them.
"""

import json
import subprocess
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from software import PYTHONS, require_module

from forestcoll import generate, simulate, write_schedule
from forestcoll.simulation.costs import Costs

pytestmark = pytest.mark.judges

SIZE = 2**30
FREE = Costs(alpha_us=0, overhead_us=0)
SCRIPT = Path(__file__).parent / "simgrid_times.py"
Rounds = list[list[list[Any]]]


def links_of(document: dict[str, Any]) -> dict[tuple[int, int], Fraction]:
    """Return the bandwidths of the one-way links of a schedule file, in bytes a second, by places of nodes."""
    topology = document["topology"]
    places = {json.dumps(node["id"]): place for place, node in enumerate(topology["nodes"])}
    links: dict[tuple[int, int], Fraction] = {}
    for edge in topology["edges"]:
        source, target = (places[json.dumps(edge[end])] for end in ("source", "target"))
        for ends in [(source, target)] + [(target, source)] * (not topology["directed"]):
            links[ends] = links.get(ends, Fraction(0)) + Fraction(str(edge["bandwidth"])) * 10**9
    return links


def rounds_of(document: dict[str, Any]) -> list[list[tuple[Fraction, list[int]]]]:
    """Return the rounds of a schedule file: for each send, its bytes and the places of the nodes on its way."""
    nodes, routes = document["topology"]["nodes"], document.get("routes", ())
    if "flows" in document:
        listed = []
        for flow in document["flows"]:
            way = [routes[flow["routes"][0]][0], *(node for each in flow["routes"] for node in routes[each][1:])]
            listed.append((Fraction(flow["share"]) * SIZE, way))
        return [listed]
    shard = Fraction(SIZE, sum(node.get("kind", "compute") == "compute" for node in nodes))
    return [
        [
            (
                (Fraction(send["interval"][1]) - Fraction(send["interval"][0])) * shard,
                routes[send["route"]] if "route" in send else [send["source"], send["target"]],
            )
            for send in step
        ]
        for step in document["steps"]
    ]


@pytest.fixture(name="python", params=PYTHONS, ids=["pypi", "debian"])
def _python(request: pytest.FixtureRequest) -> str:
    """Return a Python with SimGrid."""
    require_module(request.param, "simgrid", "apt-get install python3-simgrid, or docs/reliability.md")
    return str(request.param)


def both_times(python: str, spec: str, collective: str, method: str | None, tmp_path: Path) -> tuple[float, float]:
    """Return the seconds that SimGrid and `simulate` state for a schedule."""
    schedule = generate(spec, collective) if method is None else generate(spec, collective, method)
    path = tmp_path / "schedule.json"
    write_schedule(schedule, path)
    document = json.loads(path.read_text())
    links = links_of(document)
    numbers = {ends: number for number, ends in enumerate(links)}
    rounds = [
        [[round(size), [numbers[ends] for ends in pairwise(way)]] for size, way in sends]
        for sends in rounds_of(document)
    ]
    asked = json.dumps({"links": [float(each) for each in links.values()], "rounds": rounds})
    done = subprocess.run([python, str(SCRIPT)], input=asked, capture_output=True, text=True, check=True, timeout=250)
    said = json.loads(done.stdout)
    (point,) = simulate(schedule, [SIZE], FREE)
    ours = point.seconds
    theirs = said["times"][-1]
    print(f"SimGrid {said['version']}: {spec} {collective} {method or ''} {theirs:.9f} s, simulate {ours:.9f} s")
    return theirs, ours


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
@pytest.mark.parametrize(
    "spec", ["torus:dims=3x4", "hypercube:dim=4", "ring:nodes=7", "mesh:dims=3x3", "torus:dims=2x3x3"]
)
def test_steps_take_what_simgrid_says(spec: str, collective: str, python: str, tmp_path: Path) -> None:
    theirs, ours = both_times(python, spec, collective, "bfb", tmp_path)
    assert theirs == pytest.approx(ours, rel=1e-6)


@pytest.mark.parametrize(
    "spec", ["dgx-a100:boxes=2,gpus=4", "mi300x:boxes=1", "torus:dims=4x4", "hypercube:dim=3", "ring:nodes=6"]
)
def test_flows_of_an_all_to_all_on_alike_nodes_take_what_simgrid_says(spec: str, python: str, tmp_path: Path) -> None:
    theirs, ours = both_times(python, spec, "all-to-all", None, tmp_path)
    assert theirs == pytest.approx(ours, rel=1e-6)


@pytest.mark.parametrize("spec", ["mesh:dims=3x3", "mesh:dims=2x4", "dgx-1:boxes=1", "mi250:boxes=1"])
def test_max_min_sharing_is_never_faster_than_the_loads_of_links(spec: str, python: str, tmp_path: Path) -> None:
    theirs, ours = both_times(python, spec, "all-to-all", None, tmp_path)
    assert ours * (1 - 1e-6) <= theirs <= 2 * ours
