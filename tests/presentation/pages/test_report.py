"""The report of a comparison: what it says, that it is one file, and that its HTML is right."""

import re
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import forestcoll.presentation.pages
from forestcoll import Comparison, Costs, compare, generate, html_report, write_schedule
from forestcoll.presentation.pages.terms import TERMS, used_terms
from networks import built, linked
from parsed_page import Page

GLOSSARY = Path(__file__).parents[3] / "docs" / "glossary.md"
STYLES = Path(forestcoll.presentation.pages.__file__).parent / "report.css"


@cache
def two_boxes() -> Comparison:
    return compare("dgx-a100:boxes=2")


@cache
def report() -> str:
    return html_report(two_boxes(), command="forestcoll compare dgx-a100:boxes=2")


def test_a_newcomer_finds_the_answers_for_two_boxes() -> None:
    text = Page(report()).text
    assert "How fast can an allgather of 16 GPUs run on dgx-a100:boxes=2" in text
    assert (
        "No schedule exceeds 346.67 GB/s; for large data, forestcoll's schedule reaches it and is 1.62 times as fast "
        "as NCCL's rings, which reach 213.33 GB/s." in text
    )
    assert "At least 1/2 M enters each box" in text
    assert "Under NCCL's rings, 15/16 M enters a box over its NIC links." in text
    assert "The NIC links limit NCCL's rings: the busiest of them are busy all the time" in text
    assert "62.5% on 2 boxes" in text
    assert "and 5.8% on 16 boxes" in text
    assert "The fastest other schedules are multitree, multitree-bandwidth, multitree-remaining" in text
    assert "with 98.90% of the bound." in text
    assert "325 GB/s together, so algbw <= 325 / (15/16) = 1040/3 GB/s." in text
    assert "Nothing was run on a machine." in text


def test_the_page_says_how_it_was_made() -> None:
    text = Page(report()).text
    assert "forestcoll compare dgx-a100:boxes=2" in text
    assert forestcoll.__version__ in text
    assert re.search(r"\b[0-9a-f]{64}\b", text)
    assert "Command" not in Page(html_report(two_boxes())).text


def test_the_page_states_the_costs_of_the_simulation() -> None:
    costs = Costs(alpha_us=12, overhead_us=3, efficiency=0.8, launch_us=20)
    text = Page(html_report(compare("ring:nodes=4", baselines=["direct"], sizes=[2**20], costs=costs))).text
    assert "Each send takes 12 µs plus 3 µs per chunk" in text
    assert "Each chunk takes 3 µs more" in text
    assert "The simulation also counts launch_us = 20 and efficiency = 0.8." in text
    assert "The simulation also counts" not in Page(report()).text


def test_the_same_comparison_gives_the_same_bytes() -> None:
    assert len({html_report(compare("torus:dims=3x3", "allreduce")) for _ in range(2)}) == 1


QUICK = {"dgx-a100:boxes=2": "allgather", "torus:dims=3x3": "allreduce"}
"""A collective of two networks; the others take a minute."""


@pytest.mark.parametrize(
    ("topology", "collective"),
    [
        pytest.param(network, each, marks=[] if QUICK.get(network) == each else pytest.mark.slow)
        for network in (*QUICK, "dgx-h100:boxes=2,nvls=true", "mi250:boxes=1")
        for each in ("allgather", "reduce-scatter", "allreduce")
    ],
)
def test_the_html_of_every_collective_is_right(topology: str, collective: str) -> None:
    is_known = (topology, collective) == ("dgx-a100:boxes=2", "allgather")
    page = Page(report() if is_known else html_report(compare(topology, collective)))
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = page.ids
    targets = [attributes["href"] or "" for tag, attributes in page.tags if tag == "a"]
    assert all(target.removeprefix("#") in ids for target in targets)
    fields = {attributes.get("id") for tag, attributes in page.tags if tag in {"select", "input"}}
    labels = {attributes.get("for") for tag, attributes in page.tags if tag == "label"}
    assert fields <= labels


def test_the_styles_and_the_script_are_those_of_the_files() -> None:
    page = report()
    assert f"<style>{STYLES.read_text()}</style>" in page
    assert f"<script>{STYLES.with_suffix('.js').read_text()}</script>" in page


def test_the_page_loads_nothing() -> None:
    page = report()
    assert set(re.findall(r"https?://[^\"' )]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(?:src|srcset|data)=", page)
    assert "@import" not in page
    assert "url(" not in page


def test_a_page_for_128_gpus_is_small() -> None:
    found = compare("dgx-h100:boxes=16", baselines=["nccl-ring", "two-level"])
    assert len(html_report(found).encode()) < 1_000_000


def test_names_from_files_are_escaped(tmp_path: Path) -> None:
    nodes = ("<b>", "a & b", "c'")
    topology = built(nodes, [(*pair, 10) for pair in combinations(nodes, 2)], name='<script>alert("1")</script>')
    file = tmp_path / "<i>mine.json"
    write_schedule(generate(topology), file)
    page = html_report(compare(topology, baselines=["nccl-ring", file]), command="forestcoll compare '<u>'")
    assert "<script>alert" not in page
    tags = {tag for tag, _ in Page(page).tags}
    assert not tags & {"b", "i", "u"}


def test_a_comparison_with_only_one_schedule_has_a_report() -> None:
    page = Page(html_report(compare("ring:nodes=4", baselines=["nvls"])))
    assert "No schedule exceeds 2.67 GB/s; for large data, forestcoll's schedule reaches it." in page.text
    assert not any(tag == "select" for tag, _ in page.tags)


def test_a_network_without_a_known_unit_has_no_times() -> None:
    network = linked("0 1 2", "0=1:10 1=2:10 2=0:10", bandwidth_unit="cars/day")
    page = Page(html_report(compare(network)))
    assert "By size of the data" not in [text for _, text in page.headings]
    assert "Times are simulated" not in page.text
    assert "cars/day" in page.text


def test_a_schedule_that_is_not_valid_is_a_row_of_the_table(tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    write_schedule(generate("ring:nodes=4"), file)
    file.write_text(file.read_text().replace('"algbw": "8/3"', '"algbw": "3"'))
    page = Page(html_report(compare("ring:nodes=4", baselines=["multitree", file])))
    assert "not valid" in page.text


def test_terms_have_the_meanings_of_the_glossary() -> None:
    rows = (line.split("|")[1:-1] for line in GLOSSARY.read_text().splitlines() if line.startswith("| "))
    meanings: dict[str, set[str]] = {}
    for row in rows:
        for name in row[:2]:
            meanings.setdefault(name.strip(), set()).add(row[-1].strip())
    for term, meaning in TERMS.items():
        assert meaning in meanings.get(term, set()), term


def test_only_terms_of_the_page_are_explained() -> None:
    assert [term for term, _ in used_terms(["An allgather over 4 boxes."])] == ["box", "collective"]
    assert list(used_terms(["nothing"])) == []


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_have_enough_contrast(scheme: int) -> None:
    block = re.findall(r":root \{(.*?)\}", STYLES.read_text(), re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block))

    def contrast(one: str, other: str) -> float:
        high, low = sorted((luminance(colours[one]), luminance(colours[other])), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for ground in ("surface", "panel"):
        assert all(contrast(name, ground) >= 4.5 for name in ("ink", "muted", "accent"))
    marks = ["bound", "excess", *(name for name in colours if name.startswith("line-"))]
    assert all(contrast(name, "surface") >= 3 for name in marks)
    assert contrast("fill", "surface") >= 2


def test_a_notebook_shows_the_answer_the_table_and_a_chart() -> None:
    shown = compare("dgx-a100:boxes=2", baselines=["nccl-ring"], sizes=[2**20])._repr_html_()
    assert shown is not None
    assert "is 1.62 times as fast as NCCL's rings" in shown
    assert "<table" in shown
    assert "61.53%" in shown
    assert shown.count("<svg") == 1
    assert "15/16 M where 1/2 M would do" in shown
    assert not re.search(r"(?:src|href)=", shown)
    assert len(shown) < 20_000
