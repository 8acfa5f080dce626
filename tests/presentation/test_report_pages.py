"""The pages of schedules and of reports: what is claimed, what is proven, and what is wrong."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.presentation.results.schedules import reports
from forestcoll.presentation.results.schedules.reports import (
    report_page,
    schedule_page,
    verified_document,
    verified_page,
)
from forestcoll.schedule.proof import Bound, CutProof
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify

FILE = Path("ring.json")


def ring(*, bound: Bound | None = None) -> TreeSchedule:
    """Return the optimal allgather of a ring with another claimed bound."""
    return replace(generate("ring:nodes=4"), bound=bound)


WEAK = Bound(Collective.ALLGATHER, Fraction(8), CutProof((0, 1)))
"""Two of four nodes hold half of the data, and 4 GB/s leave them."""


def test_a_schedule_shows_its_claims_and_that_it_is_not_verified() -> None:
    page = schedule_page(generate("ring:nodes=4", "broadcast", root=2))
    assert page.title == "broadcast from 2 on ring:nodes=4, 4 compute nodes"
    assert page.lines()[1:] == [
        "  algbw     2 GB/s",
        "  bound     2 GB/s",
        "  kind      trees",
        "  verified  no; call verify(schedule)",
    ]


def test_a_schedule_without_claims_shows_its_kind() -> None:
    steps = generate_steps(build_topology("ring:nodes=4"))
    page = schedule_page(replace(steps, algbw=None, bound=None))
    assert page.lines()[1:] == ["  kind      steps", "  verified  no; call verify(schedule)"]


def test_the_page_of_a_report_says_what_is_proven() -> None:
    page = report_page(verify(generate("ring:nodes=4")))
    assert (page.title, page.valid) == ("valid", True)
    assert page.lines()[1:] == ["  algbw    8/3", "  bound    8/3, proven by a proof of kind cut", "  optimal  yes"]
    assert report_page(verify(ring())).lines()[1:] == ["  algbw    8/3", "  optimal  not proven"]


def test_the_page_of_a_report_names_the_rule_that_is_broken() -> None:
    page = report_page(verify(replace(ring(), algbw=Fraction(9))))
    assert (page.title, page.valid) == ("invalid", False)
    assert page.lines()[1].split() == ["rule", "algbw-wrong"]
    assert "9" in page.lines()[2]


@pytest.mark.parametrize(
    ("bound", "claim"),
    [(None, "optimum       not claimed"), (WEAK, "optimum       8 GB/s, proven by the cut in the file")],
)
def test_a_bound_that_is_not_reached_is_shown_with_its_proof(bound: Bound | None, claim: str) -> None:
    schedule = ring(bound=bound)
    page = verified_page(schedule, verify(schedule), FILE)
    assert page.title == "ring.json: valid: allgather on ring:nodes=4, 4 compute nodes"
    assert " ".join(claim.split()) in [" ".join(line.split()) for line in page.lines()]


def test_a_kind_without_figures_of_its_own_shows_the_common_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "PRESENTERS", {})
    schedule = ring(bound=WEAK)
    report = verify(schedule)
    assert verified_page(schedule, report, FILE).lines() == [
        "ring.json: valid: allgather on ring:nodes=4, 4 compute nodes",
        "  algbw    8/3 GB/s (2.66667)",
        "  optimum  8 GB/s, proven by the cut in the file",
    ]
    document = verified_document(schedule, report)
    assert (document["valid"], document["algbw"], document["optimal_algbw"]) == (True, "8/3", "8")
