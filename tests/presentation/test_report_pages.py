"""The pages of schedules, series and reports: what is claimed, what is proven, and what is wrong."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.oneport import compare_series
from forestcoll.oneport.asked import SeriesAnswer
from forestcoll.presentation.results.measurements.probe import probe_page
from forestcoll.presentation.results.schedules.reports import (
    report_page,
    schedule_page,
    verified_page,
)
from forestcoll.presentation.results.schedules.series import about, generated_page, number
from forestcoll.schedule.proof import Bound, CutProof
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.series.play import play_series
from forestcoll.topology.importers.measurements.document import measurements_of
from forestcoll.topology.importers.source import Source
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from oneport_platforms import figure_1

FILE = Path("ring.json")


def ring(*, bound: Bound | None = None) -> TreeSchedule:
    """Return the optimal allgather of a ring with another claimed bound."""
    return replace(generate("ring:nodes=4"), bound=bound)


WEAK = Bound(Collective.ALLGATHER, Fraction(8), CutProof((0, 1)))
"""Two of four nodes hold half of the data, and 4 GB/s leave them."""


def test_a_schedule_shows_its_claims_and_that_it_is_not_verified() -> None:
    page = schedule_page(generate("ring:nodes=4", "broadcast:root=2"))
    assert page.title == "broadcast from 2 on ring:nodes=4, 4 compute nodes"
    assert page.lines()[1:] == [
        "  algbw     2 GB/s",
        "  bound     2 GB/s",
        "  kind      trees",
        "  verified  no; call verify(schedule)",
    ]


def test_a_schedule_without_claims_shows_its_kind() -> None:
    steps = generate(build_topology("ring:nodes=4"), method="bfb")
    page = schedule_page(replace(steps, algbw=None, bound=None))
    assert page.lines()[1:] == ["  kind      steps", "  verified  no; call verify(schedule)"]


def test_the_page_of_a_report_says_what_is_proven() -> None:
    page = report_page(verify(generate("ring:nodes=4")))
    assert (page.title, page.valid) == ("valid", True)
    assert page.lines()[1:] == ["  algbw    8/3", "  bound    8/3, proven by a proof of kind cut", "  optimal  yes"]
    assert report_page(verify(ring())).lines()[1:] == ["  algbw    8/3", "  optimal  not proven"]
    steps = [[((node - step) % 4, node, (node + 1) % 4) for node in range(4)] for step in range(3)]
    one_way = StepSchedule.of_sends("ring:nodes=4", "allgather", steps)
    lines = report_page(verify(replace(one_way, bound=generate("ring:nodes=4").bound))).lines()
    assert lines[-1] == "  optimal  not proven; 50.00% of the bound"


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
    monkeypatch.setattr(TreeSchedule, "__module__", "elsewhere")
    schedule = ring(bound=WEAK)
    report = verify(schedule)
    assert verified_page(schedule, report, FILE).lines() == [
        "ring.json: valid: allgather on ring:nodes=4, 4 compute nodes",
        "  algbw    8/3 GB/s (2.66667)",
        "  busbw    2 GB/s",
        "  optimum  8 GB/s, proven by the cut in the file",
    ]
    document = verified_page(schedule, report, FILE).document()
    assert (document["valid"], document["algbw"], document["optimal_algbw"]) == (True, "8/3", "8")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(1, 3), "1/3 (0.333333)"),
        (Fraction(10**14 + 1, 10**13), "about 10"),
        (Fraction(7 * 10**400), "about 10^400"),
    ],
)
def test_a_number_is_exact_unless_it_has_many_digits(value: Fraction, text: str) -> None:
    assert number(value) == text


def test_a_number_above_the_greatest_float_is_a_power_of_ten() -> None:
    assert about(Fraction(10**298)) == "about 1e+298"
    assert about(Fraction(10**299)) == "about 10^299"


def test_the_page_says_how_much_of_the_optimum_a_tree_reaches() -> None:
    compared = compare_series(figure_1(), "s")
    schedule = compared.schedule("tree")
    run = play_series(schedule, 10)
    page = generated_page(SeriesAnswer(compared, schedule, run), {}, {})
    rows = {words[0]: words[1] for words in (line.strip().split("  ", 1) for line in page.lines()) if len(words) == 2}
    assert "over all links; this is " in rows["optimum"]
    assert rows["simulated"].strip().startswith("10 messages in ")
    whole = generated_page(SeriesAnswer(compared, compared.schedule(), None), {}, {})
    assert any("reached; no schedule is faster" in line for line in whole.lines())
    assert not any("simulated" in line for line in whole.lines())


def test_the_page_of_a_probe_names_hosts_ranks_and_what_follows() -> None:
    recorded = Path(__file__).parents[1] / "topology" / "importers" / "recorded" / "shared-nics.json"
    measured = measurements_of(Source("recorded", recorded.read_text(), "recorded"))
    lines = probe_page(measured, Path("m.json")).lines()
    assert lines[0] == f"{measured.size} ranks on {len(measured.hosts)} hosts"
    assert lines[-1] == "Next: forestcoll import m.json -o network.json"
