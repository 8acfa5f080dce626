"""Add a kind of schedule by one entry per table. The new kind can be read, written, verified and simulated.

The kind is an allgather in which every node sends its shard over its link to each other node. ARCHITECTURE.md lists the
tables. The first test says which of them a kind is not in.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, final

import numpy as np
import pytest

from forestcoll.base.exact import json_text
from forestcoll.base.file_kinds import SCHEDULE, kind_of
from forestcoll.base.json_parts import rational_of
from forestcoll.demand.collective import Collective
from forestcoll.presentation.results.schedules import reports
from forestcoll.programs.lowering import lower
from forestcoll.schedule.document_parts import bound_document, bound_in, check_format, topology_in
from forestcoll.schedule.files import FORMATS, ScheduleFormat, read_schedule, write_schedule
from forestcoll.schedule.loads import LinkLoads
from forestcoll.schedule.loads_of import LOADS
from forestcoll.schedule.proof import Bound, CutProof
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.shape import Shape
from forestcoll.schedule.shape_of import SHAPES, shape_of
from forestcoll.simulation import Costs, Point
from forestcoll.simulation.costs import point_at
from forestcoll.simulation.simulate import SIMULATIONS, Model, Simulation, loads_of, simulate
from forestcoll.topology import topology_to_document
from forestcoll.topology.registry import build_topology
from forestcoll.tuning.programs.export import export
from forestcoll.verification import Fault, Report, rules, verify
from forestcoll.verification.claims import Claim, bound_rules, is_optimal
from forestcoll.verification.network import Network
from forestcoll.verification.reading import read_verified
from forestcoll.verification.rule import Rule, first_fault, statements
from forestcoll.verification.verifiers import VERIFIERS, Verifier
from refusal import refusal

FORMAT = "example.stars/1"
ROOT = Path(__file__).parents[2]


@final
@dataclass(frozen=True, repr=False)
class Stars(Schedule):
    """An allgather over direct links."""

    kind: ClassVar[str] = "stars"
    collective: Collective = field(default=Collective.ALLGATHER, init=False)

    @property
    def size(self) -> str:
        return f"{len(self.members)} stars"


def text_of(schedule: Stars) -> Iterator[str]:
    """Yield the text of the file."""
    claims = {"algbw": str(schedule.algbw)} | bound_document(schedule)
    yield json_text({"format": FORMAT, "topology": topology_to_document(schedule.topology)} | claims)


def from_document(document: Mapping[str, object], where: str) -> Stars:
    """Return the schedule of a document."""
    check_format(document, FORMAT, where)
    topology = topology_in(document, where)
    bound = bound_in(document, Collective.ALLGATHER, topology, where)
    return Stars(topology, algbw=rational_of(document.get("algbw"), f"{where}: algbw"), bound=bound)


@dataclass(frozen=True)
class StarsShape(Shape):
    """The shape of stars: every route has one hop."""

    hops: int = 1
    sends: int = 1


def _missing_link(schedule: Stars) -> str | None:
    count = len(schedule.members)
    return None if len(schedule.topology.links) == count * (count - 1) else "two nodes have no link between them"


def _achieved(schedule: Stars) -> Fraction:
    return len(schedule.members) * min(link.bandwidth for link in schedule.topology.links)


def _wrong_algbw(schedule: Stars) -> str | None:
    return None if schedule.algbw == _achieved(schedule) else f"algbw is {schedule.algbw}"


RULES: tuple[Rule[Stars], ...] = (
    Rule("star-link", "A link joins every two nodes.", _missing_link),
    Rule("algbw-wrong", "algbw is N times the least bandwidth.", _wrong_algbw),
)
CLAIMS = bound_rules("the shards of the nodes inside")


def verified(schedule: Stars) -> Report:
    """Verify a schedule of stars."""
    achieved = _achieved(schedule)
    claim = Claim(schedule, Network(schedule.topology), achieved, (CutProof,))
    fault = first_fault(schedule, RULES) or first_fault(claim, CLAIMS)
    return Report(fault, achieved, fault is None and is_optimal(schedule, achieved), schedule.bound)


@dataclass(frozen=True)
class Times:
    """The simulated times of a schedule of stars."""

    schedule: Stars
    costs: Costs

    def point(self, size: int) -> Point:
        seconds = self.costs.alpha_us * 1e-6 + size / (float(_achieved(self.schedule)) * 1e9)
        return point_at(self.schedule, size=size, seconds=seconds, pieces=1, part=1 / len(self.schedule.members))


def loads(schedule: Stars) -> LinkLoads:
    """Return the data that each link carries."""
    return LinkLoads(np.ones(len(schedule.topology.links), dtype=np.int64), len(schedule.members))


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add one entry to each table."""
    kind: type[Schedule] = Stars
    monkeypatch.setitem(FORMATS, FORMAT, ScheduleFormat(Stars, text_of, from_document))
    monkeypatch.setitem(SHAPES, kind, lambda _: StarsShape())
    monkeypatch.setitem(VERIFIERS, kind, Verifier(verified, lambda _: (*statements(RULES), *statements(CLAIMS))))
    monkeypatch.setitem(SIMULATIONS, kind, Simulation(Times))
    monkeypatch.setitem(LOADS, kind, loads)


@pytest.mark.parametrize("kind", [each.schedules for each in FORMATS.values()])
def test_every_kind_is_in_every_table(kind: type[Schedule]) -> None:
    tables: dict[str, Mapping[type[Schedule], object]] = {
        "SHAPES": SHAPES,
        "LOADS": LOADS,
        "VERIFIERS": VERIFIERS,
        "SIMULATIONS": SIMULATIONS,
    }
    (name,) = (name for name, each in FORMATS.items() if each.schedules is kind)
    assert not [table for table, entries in tables.items() if kind not in entries]
    assert kind_of({"format": name}) is SCHEDULE, "base/file_kinds.py"
    assert kind.__module__.rpartition(".")[0] in (ROOT / "pyproject.toml").read_text(), "pyproject.toml"
    assert f"`{name}`" in (ROOT / "docs/formats/index.md").read_text(), "docs/formats/"


def stars() -> Stars:
    topology = build_topology("complete:nodes=5,bandwidth=7")
    bound = Bound(Collective.ALLGATHER, Fraction(35), CutProof((0, 1, 2, 3)))
    return Stars(topology, algbw=Fraction(35), bound=bound)


def test_a_schedule_of_the_new_kind_is_written_and_read(tmp_path: Path) -> None:
    for name in ("stars.json", "stars.json.gz"):
        write_schedule(stars(), tmp_path / name)
        assert read_schedule(tmp_path / name) == stars()
    assert repr(stars()) == "<Stars: allgather on 'complete:nodes=5,bandwidth=7', 5 compute nodes, 5 stars>"
    assert shape_of(stars()).hops == 1


def test_a_schedule_of_the_new_kind_is_verified(tmp_path: Path) -> None:
    report = verify(stars())
    assert (report.ok, report.optimal, report.algbw) == (True, True, Fraction(35))
    assert report.proof == CutProof((0, 1, 2, 3))
    assert rules("stars")[0] == ("star-link", "A link joins every two nodes.")
    wrong = replace(stars(), algbw=Fraction(36))
    assert verify(wrong).fault == Fault("algbw-wrong", "algbw is 36")
    write_schedule(wrong, tmp_path / "wrong.json")
    assert "wrong.json: algbw is 36 [algbw-wrong]" in refusal(read_verified, tmp_path / "wrong.json")


def test_a_schedule_of_the_new_kind_is_simulated() -> None:
    (point,) = simulate(stars(), [10**9], Costs(alpha_us=0))
    assert point.algbw == pytest.approx(35)
    assert loads_of(stars()).parts.tolist() == [0.2] * 20


def test_a_schedule_of_the_new_kind_has_the_common_report() -> None:
    lines = reports.verified_page(stars(), verify(stars()), Path("s.json")).lines()
    assert lines[0] == "s.json: valid: allgather on complete:nodes=5,bandwidth=7, 5 compute nodes"
    assert "reached; the cut in the file proves that no schedule is faster" in lines[3]
    assert reports.verified_page(stars(), verify(stars()), Path("s.json")).document()["optimal_algbw"] == "35"


def test_lowering_and_export_of_the_new_kind_raise_a_one_line_error() -> None:
    kinds = "'trees' or 'steps' or 'flows'"
    words = f"a schedule of kind 'stars' cannot be lowered to a program; use a schedule of kind {kinds}"
    for attempt in (lower, lambda schedule: export(schedule, "msccl-xml"), _simulated_as_program):
        assert refusal(attempt, stars()) == f"complete:nodes=5,bandwidth=7: {words}"


def _simulated_as_program(schedule: Schedule) -> object:
    return simulate(schedule, [10**6], model=Model.PROGRAM)
