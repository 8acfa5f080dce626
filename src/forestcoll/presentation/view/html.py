"""A page of HTML with headings, sentences and pictures, which loads nothing from elsewhere."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from forestcoll.base.display import printable
from forestcoll.base.version import __version__
from forestcoll.presentation.pictures.svg import Element, text

_HINT = "Point at a node or a link, or press Tab and the arrow keys, to see its name, bandwidth and load."


@dataclass(frozen=True)
class Figure:
    """A picture of a page.

    Attributes:
        picture: an `svg` element.
        caption: a sentence below it; none if empty.
        data: what the script of the page needs to play sends, as JSON; empty if nothing is played.
    """

    picture: Element
    caption: str
    data: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with sentences and a picture.

    Attributes:
        heading: the heading.
        lines: the sentences, each a line; lines that begin with a space are indented.
        figure: the picture; None if there is none.
    """

    heading: str
    lines: tuple[str, ...]
    figure: Figure | None = None


def html_page(title: str, sections: Sequence[Section]) -> str:
    """Return a page.

    Args:
        title: the title and first heading.
        sections: the parts, from top to bottom.

    Returns:
        The HTML; it works from a file, without a network and without a server.
    """
    style, script = (resources.files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    body = "\n".join(_section(number, each) for number, each in enumerate(sections))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="forestcoll {_escaped(__version__)}">
<title>{_escaped(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{_escaped(title)}</h1>
{body}
<p id="details" role="status" aria-live="polite">{_HINT}</p>
<footer>Written by forestcoll {_escaped(__version__)}.</footer>
</main>
<script>
{script}</script>
</body>
</html>
"""


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _section(number: int, section: Section) -> str:
    heading = f"section{number}"
    lines = "\n".join(_line(line) for line in section.lines)
    figure = "" if section.figure is None else _figure(section.figure)
    title = f'<h2 id="{heading}">{_escaped(section.heading)}</h2>'
    return f'<section aria-labelledby="{heading}">\n{title}\n{lines}{figure}\n</section>'


def _line(line: str) -> str:
    kind = ' class="indented"' if line.startswith(" ") else ""
    return f"<p{kind}>{_escaped(line.strip())}</p>"


def _figure(figure: Figure) -> str:
    caption = f"<figcaption>{_escaped(figure.caption)}</figcaption>" if figure.caption else ""
    if not figure.data:
        return f'\n<figure><div class="scroll">{text(figure.picture)}</div>{caption}</figure>'
    return f"""
<figure class="player">
<div class="controls" hidden>
<label>Part of the schedule <select class="story"></select></label>
<button type="button" class="back" aria-label="Previous send">◀ Back</button>
<button type="button" class="play">▶ Play</button>
<button type="button" class="next" aria-label="Next send">Next ▶</button>
<button type="button" class="all">All sends</button>
<output class="state" aria-live="polite"></output>
</div>
<div class="scroll">{text(figure.picture)}</div>{caption}
<script type="application/json">{figure.data}</script>
</figure>"""
