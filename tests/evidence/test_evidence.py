"""docs/evidence: every exhibit of each paper is on its page, and the pages show what `evidence/papers.py` makes."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from exhibits.exhibit import Cost, Settings, Verdict
from exhibits.pages import FOLDER, index_text, name_of, named, page_text, section, sections_of
from exhibits.papers import PAPERS

NUMBERED: dict[str, dict[str, Sequence[int]]] = {
    "forestcoll": {"Table": range(1, 4), "Figure": range(1, 18), "Theorem": range(1, 14)},
    "direct-connect": {"Table": range(1, 10), "Figure": range(1, 21), "Theorem": range(1, 23)},
    "allreduce-rate": {"Figure": range(1, 10), "Theorem": range(1, 8)},
    "one-port": {"Figure": range(1, 9), "Theorem": range(1, 9)},
}
"""The numbers of the tables, figures and theorems of each paper."""

EXHIBITS = named()
PAGES = {paper.name: (FOLDER / f"{paper.name}.md").read_text(encoding="utf-8") for paper in PAPERS}
SECTIONS = {name: text for page in PAGES.values() for name, text in sections_of(page).items()}


def of_cost(cost: Cost) -> list[str]:
    return [name for name, (_, exhibit) in EXHIBITS.items() if exhibit.cost is cost]


def numbers_of(heading: str) -> list[tuple[str, int]]:
    """Return the numbered items that an exhibit covers: "Theorems 2 to 12" covers eleven."""
    found = re.fullmatch(r"(Table|Figure|Theorem)s? (\d+)(?: (?:to|and) (\d+))?", heading)
    if found is None:
        return []
    return [(found[1], number) for number in range(int(found[2]), int(found[3] or found[2]) + 1)]


@pytest.mark.parametrize("page", NUMBERED)
def test_every_table_figure_and_theorem_of_a_paper_has_one_exhibit(page: str) -> None:
    (paper,) = [each for each in PAPERS if each.name == page]
    covered = Counter(item for exhibit in paper.exhibits for item in numbers_of(exhibit.number))
    assert covered == Counter((kind, number) for kind, numbers in NUMBERED[page].items() for number in numbers)


def test_every_exhibit_has_a_section_and_every_section_an_exhibit() -> None:
    assert sorted(SECTIONS) == sorted(EXHIBITS)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_a_page_has_only_what_the_command_writes(paper) -> None:  # type: ignore[no-untyped-def]
    assert PAGES[paper.name] == page_text(paper, SECTIONS)


def test_the_index_has_the_verdict_of_each_section() -> None:
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == index_text(SECTIONS)


def made_again(name: str, folder: Path) -> str:
    paper, exhibit = EXHIBITS[name]
    return section(paper, exhibit, exhibit.result(Settings(folder)))


LONGEST = "allreduce-rate/question-of-section-4"
"""The exhibit that takes ten seconds; the other quick ones take less than five."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == LONGEST)) for name in of_cost(Cost.QUICK)]
)
def test_a_quick_exhibit_is_made_as_its_page_shows_it(name: str, tmp_path: Path) -> None:
    assert made_again(name, tmp_path) == SECTIONS[name], f"run evidence/papers.py {name}"


@pytest.mark.slow
@pytest.mark.parametrize("name", of_cost(Cost.SLOW))
def test_a_slow_exhibit_is_made_as_its_page_shows_it(name: str, tmp_path: Path) -> None:
    assert made_again(name, tmp_path) == SECTIONS[name], f"run evidence/papers.py {name}"


@pytest.mark.parametrize("name", [*of_cost(Cost.SLOW), *of_cost(Cost.TIMED)])
def test_a_section_that_is_not_made_again_has_the_claim_of_its_exhibit(name: str) -> None:
    _, exhibit = EXHIBITS[name]
    assert SECTIONS[name].startswith(f"## {exhibit.number}\n\nPrinted: {exhibit.claim}\n\n**")


def test_what_is_not_had_has_a_reason() -> None:
    missing = [exhibit for _, exhibit in EXHIBITS.values() if exhibit.make is None]
    assert missing
    for exhibit in missing:
        assert exhibit.why_not.endswith(".")
    assert all((exhibit.make is None) == bool(exhibit.why_not) for _, exhibit in EXHIBITS.values())


def test_the_findings_are_shown_by_commands() -> None:
    commands = re.findall(r"^\$ forestcoll (.*)$", PAGES["findings"], re.MULTILINE)
    assert "generate circulant:nodes=12,offsets=1+3+4+5 --method bfb -o steps.json" in commands
    assert "bandwidth  1 (1) M/B (T_B); the lower bound is 11/12" in PAGES["findings"]
    assert "design --nodes 1024 --degree 4" in commands
    assert "    both at the same time           20/11 GB/s" in PAGES["findings"]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_picture_exists_and_is_shown(paper) -> None:  # type: ignore[no-untyped-def]
    shown = re.findall(r"\]\((pictures/[^)]+)\)", PAGES[paper.name])
    assert [each for each in shown if not (FOLDER / each).is_file()] == []
    kept = {f"pictures/{path.name}" for path in (FOLDER / "pictures").iterdir() if path.name.startswith(paper.name)}
    assert kept == set(shown)


def test_names_of_exhibits_differ() -> None:
    names = [name_of(paper, exhibit) for paper in PAPERS for exhibit in paper.exhibits]
    assert len(names) == len(set(names))
    assert {each.value for each in Verdict} == {"same", "better", "differs", "not had"}
