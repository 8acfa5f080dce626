"""The report of a comparison: one page with the question, the answer, the proof, the comparison and the pictures."""

from collections.abc import Callable

from forestcoll.base.errors import require_kind
from forestcoll.base.progress import SILENT, Progress
from forestcoll.comparison import Comparison
from forestcoll.presentation.html import items, page_text, paragraph
from forestcoll.presentation.pages import origin, sections, timeline
from forestcoll.presentation.pages.study import ComparisonDetails
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.results.comparisons.answers import question
from forestcoll.presentation.text import capitalized

_SECTIONS: tuple[Callable[[ComparisonDetails], Element | None], ...] = (
    sections.reasons,
    sections.network,
    sections.proof,
    sections.comparison,
    sections.cuts,
    sections.sizes,
    sections.boxes,
    timeline.sends,
    sections.skipped,
    origin.limits,
    origin.made,
)
"""The sections in their order."""


def html_report(found: Comparison, *, command: str | None = None, progress: Progress = SILENT) -> str:
    """Return the report of a comparison: one page of HTML, which loads nothing from a network.

    The same comparison gives the same text.

    Args:
        found: the comparison.
        command: the command that made it, which the page names; None if it was not made by a command.
        progress: receives the stages of the work.

    Returns:
        The text of the page.

    Raises:
        InputError: an argument is of another type.

    Example:
        >>> from forestcoll import compare, html_report
        >>> text = html_report(compare("ring:nodes=4", baselines=["direct"]))
        >>> text.splitlines()[0], "No schedule exceeds 2.67 GB/s" in text
        ('<!DOCTYPE html>', True)
    """
    require_kind(found, Comparison, "found", "a Comparison, which compare returns")
    require_kind(command, str | None, "command", "a text or None")
    progress.begin("making the report")
    study = ComparisonDetails.of(found, command, progress)
    title = f"{capitalized(found.demand.collective.value)} on {found.topology.name}"
    parts = [made for make in _SECTIONS if (made := make(study)) is not None]
    parts.append(sections.terms(parts))
    main = element(
        "main",
        element("h1", title),
        paragraph(question(found), class_="question"),
        *sections.answer_box(study),
        _contents(parts),
        *parts,
        id="main",
        data_own=study.keys[study.own.name],
    )
    skip = element("a", "Skip to the answer", href="#answer", class_="skip")
    return page_text(title, [skip, main], name="pages/report")


def _contents(parts: list[Element]) -> Element:
    """Return the links to the sections."""
    links = items(element("a", part[0].text or "", href=f"#{part.get('id')}") for part in parts)
    return element("nav", links, aria_label="Sections of this page")
