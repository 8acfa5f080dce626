"""Tables and pages as text, JSON rows and HTML."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.demand.collective import PhaseOp
from forestcoll.presentation.html import html_of
from forestcoll.presentation.results.networks.networks import network_page
from forestcoll.presentation.tables import Column, Page, Table, labelled, row
from forestcoll.topology import TopologyBuilder
from forestcoll.topology.registry import build_topology

TABLE = Table(
    (
        Column("links", "{:,}".format, right=True, key="links"),
        Column("kind"),
        Column("share", "{:.0%}".format, key="s"),
    ),
    ((8, "NVLink", 0.5), (16384, "a\x1b[2Jb\nc", 0.25)),
    title="Links:",
    notes=("one-way",),
)
EVIL = "<script>alert('x')</script>&\""


def test_columns_are_aligned_and_lines_have_no_trailing_blanks() -> None:
    assert TABLE.lines() == [
        "Links:",
        "   links  kind      share",
        "       8  NVLink    50%",
        "  16,384  a?[2Jb?c  25%",
        "  one-way",
    ]


def test_a_page_has_text_and_json_of_the_same_rows() -> None:
    page = Page(
        "ring",
        (
            row(topology="ring"),
            row("algbw", "8/3 GB/s", algbw=Fraction(8, 3), unit="GB/s"),
            row("proof", "a cut", proof=lambda: {"ids": (0, Path("a")), "kind": PhaseOp.REDUCE}),
            "A sentence.",
            row(after=None),
            replace(TABLE, key="rows", most=1),
        ),
    )
    assert page.lines() == [
        "ring",
        "  algbw  8/3 GB/s",
        "  proof  a cut",
        "A sentence.",
        "Links:",
        "  links  kind    share",
        "      8  NVLink  50%",
        "  and 1 more row; --json lists all.",
        "  one-way",
    ]
    assert page.document() == {
        "topology": "ring",
        "algbw": "8/3",
        "unit": "GB/s",
        "proof": {"ids": [0, "a"], "kind": "reduce"},
        "after": None,
        "rows": [{"links": 8, "s": 0.5}, {"links": 16384, "s": 0.25}],
    }
    assert page.records() == page.document()["rows"]


def test_only_json_computes_a_value_that_is_a_function() -> None:
    def fail() -> None:
        raise AssertionError("computed")

    page = Page("", (row("a", "b", key=fail),))
    assert page.lines() == ["  a  b"]
    with pytest.raises(AssertionError, match="computed"):
        page.document()


def test_a_column_can_be_only_in_json() -> None:
    table = Table((Column("name"), Column(None, key="exact")), (("ring", Fraction(1, 3)),), key="rows")
    assert table.lines() == ["  name", "  ring"]
    assert "1/3" not in html_of(table)
    assert Page("", (table,)).document() == {"rows": [{"exact": "1/3"}]}
    assert Page("", (table,)).records() == [{"exact": 1 / 3}]


def test_json_rows_hold_the_values_themselves() -> None:
    assert TABLE.documents() == [{"links": 8, "s": 0.5}, {"links": 16384, "s": 0.25}]


def test_a_table_without_titles_or_rows() -> None:
    assert labelled([("a", "1"), ("long", "2")]).lines() == ["  a     1", "  long  2"]
    assert labelled([]).lines() == []


@pytest.mark.parametrize("value", [Table((Column(EVIL),), ((EVIL,),), EVIL, (EVIL,)), Page(EVIL, (EVIL,))])
def test_html_is_escaped_and_complete(value: Table | Page) -> None:
    html = html_of(value)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.startswith("<div ")
    assert html.count("<div") == html.count("</div>")
    assert not [word for word in ("http", "src=", "href=", "url(") if word in html]


def test_html_shows_verdicts_in_colour() -> None:
    colours = {html_of(Page("a", valid=valid)) for valid in (None, True, False)}
    assert len(colours) == 3


def test_the_html_of_a_network_counts_its_parts() -> None:
    html = html_of(build_topology("dgx-h100:boxes=2"))
    for part in ("dgx-h100:boxes=2", "16 in 2 boxes", "one-way links", "bandwidth (GB/s)", "450"):
        assert part in html


def test_the_html_of_a_network_is_short_and_escapes_names() -> None:
    builder = TopologyBuilder(EVIL, bandwidth_unit=EVIL)
    for number in range(60):
        builder.add_compute(f"{EVIL}{number}", box=f"{EVIL}{number % 3}")
    for number in range(60):
        builder.add_link(f"{EVIL}{number}", f"{EVIL}{(number + 1) % 60}", Fraction(number + 1, 7))
    network = builder.build()
    html = html_of(network)
    assert "<script" not in html
    assert html.count("<svg") == 1
    assert len(html) < 40_000
    assert len(html_of(network_page(network))) < 10_000
    assert any(line.endswith("links of lower bandwidth") for line in network_page(network).lines())


def test_a_value_without_a_page_is_refused() -> None:
    with pytest.raises(TypeError, match="no page for a value of type int"):
        html_of(1)
