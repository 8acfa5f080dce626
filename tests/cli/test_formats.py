"""The example of each page of `docs/formats` is read by the reader of its format, and means what the page says."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.base.file_kinds import _BY_FORMAT
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.pieces import groups_of_pieces, read_pieces
from forestcoll.design.workloads.profile import read_profile
from forestcoll.runtime.cuda_table import read_cuda_table
from forestcoll.runtime.tuning import read_table
from forestcoll.schedule.files import schedule_from_document
from forestcoll.simulation.costs import costs_from_document
from forestcoll.topology import topology_from_document
from forestcoll.topology.importers.measurements.document import measurements_of
from forestcoll.topology.importers.source import Source
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.what_if import write_failover

FORMATS = Path(__file__).parents[2] / "docs" / "formats"


def example(page: str) -> str:
    (block,) = re.findall(r"^```json\n(.*?)^```$", (FORMATS / f"{page}.md").read_text(), re.DOTALL | re.MULTILINE)
    return str(block)


def _is_optimal(document: Any) -> bool:
    return verify(schedule_from_document(document, where="docs")).optimal


def _proof_counts(document: Any) -> bool:
    """Whether a schedule of the page of trees is optimal by a certificate."""
    schedule = json.loads(example("schedule"))
    return _is_optimal(schedule | {"certificate": document})


def _is_valid(document: Any, _: Path) -> bool:
    return verify(schedule_from_document(document, where="docs")).ok


def _pieces(path: Path) -> bool:
    network = build_topology("dgx-a100:boxes=2")
    return optimum(network, Groups(groups_of_pieces(network, read_pieces(path)))).algbw > 0


READ_BY: dict[str, Callable[[Any, Path], object]] = {
    "bundle": lambda document, _: _is_optimal(document),
    "costs": lambda document, _: set(costs_from_document(document, "docs").document()) == set(document),
    "cuda": lambda _, path: read_cuda_table(path, build_topology("ring:nodes=2")).rows[0].best,
    "demand": lambda _, path: _pieces(path),
    "failover": lambda document, path: (
        write_failover("ring:nodes=3", path.parent / "set")
        and json.loads((path.parent / "set" / "manifest.json").read_text()) == document
    ),
    "flows": lambda document, _: _is_optimal(document),
    "measurements": lambda document, _: len(measurements_of(Source("docs", json.dumps(document), "docs")).measurements),
    "profile": lambda _, path: read_profile(path).trained_layers(),
    "proof": lambda document, _: _proof_counts(document),
    "schedule": lambda document, _: _is_optimal(document),
    "series": lambda document, _: _is_optimal(document),
    "topology": lambda document, _: len(topology_from_document(document, where="docs").links) == 3,
    "tuning": lambda _, path: read_table(path).ranges,
}
"""How the example of a page of `docs/formats` is read; the result is true if it is right. Others are schedules."""

PAGES = sorted(path.stem for path in FORMATS.glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("page", PAGES)
def test_the_example_of_a_format_is_read(page: str, tmp_path: Path) -> None:
    path = tmp_path / "example.json"
    path.write_text(example(page))
    assert READ_BY.get(page, _is_valid)(json.loads(example(page)), path)


def test_every_format_has_a_page() -> None:
    examples = "".join(map(example, PAGES))
    missing = [each for each in _BY_FORMAT if f'"format": "{each}"' not in examples]
    assert not missing, "docs/formats/ needs a page with an example of each"
    listed = (FORMATS / "index.md").read_text()
    assert all(f"`{each}`" in listed for each in _BY_FORMAT)
