"""Elements of HTML, and the text of a page in one file.

The library escapes all texts, and a policy in the page forbids the browser to load anything.
"""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from xml.etree import ElementTree

from forestcoll.presentation.pictures.svg import Element, element

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page_text(title: str, body: Sequence[Element], *, name: str) -> str:
    """Return the text of a page.

    Args:
        title: the title of the page.
        body: the elements of the body.
        name: the name of the styles and of the script, NAME.css and NAME.js in this folder.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        _verbatim("style", f"{name}.css"),
    )
    page = element("html", head, element("body", *body, _verbatim("script", f"{name}.js")), lang="en")
    return f"<!DOCTYPE html>\n{ElementTree.tostring(page, encoding='unicode', method='html')}\n"


def _verbatim(tag: str, name: str) -> Element:
    """Return an element with the text of a file in this folder, including its line breaks."""
    made = element(tag)
    made.text = files("forestcoll.presentation.pages").joinpath(name).read_text(encoding="utf-8")
    return made


def paragraph(*content: Element | str, class_: str | None = None) -> Element:
    """Return a paragraph."""
    return element("p", *content, class_=class_)


def items(lines: Iterable[Element | str]) -> Element:
    """Return a list with one item for each line."""
    return element("ul", *(element("li", line) for line in lines))


def section(key: str, title: str, *content: Element) -> Element:
    """Return a section with a heading of the second level; `key` is its id."""
    return element("section", element("h2", title), *content, id=key)


def table(caption: str, titles: Sequence[str], rows: Iterable[Element], *, right: Sequence[int] = ()) -> Element:
    """Return a table in a box that can be scrolled with the keyboard.

    Args:
        caption: what the table shows.
        titles: the titles of the columns.
        rows: the rows, as `row` makes them.
        right: the numbers of the columns of numbers, which are aligned to the right.
    """
    heads = (
        element("th", title, scope="col", class_="number" if place in right else None)
        for place, title in enumerate(titles)
    )
    content = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), aria_label=caption)
    box = element("div", content, class_="scroll", tabindex="0", role="region", aria_label=caption)
    return element("div", paragraph(caption, class_="note"), box, class_="table")


def row(head: Element | str, cells: Iterable[Element | str], *, right: Sequence[int] = (), key: str = "") -> Element:
    """Return a row of a table, whose first cell is its heading; `key` is the key of the row for the script."""
    rest = (
        element("td", cell, class_="number" if place in right else None) for place, cell in enumerate(cells, start=1)
    )
    return element("tr", element("th", head, scope="row"), *rest, data_rows=key or None)


def figure(picture: Element, caption: str, *, key: str = "", hidden: bool = False) -> Element:
    """Return a picture with its caption, in a box that can be scrolled with the keyboard.

    Args:
        picture: an `svg` element.
        caption: what the picture shows.
        key: the key of the row of the comparison that the picture shows, for the script; empty for pictures of all.
        hidden: whether the figure is hidden until a reader chooses it.
    """
    box = element("div", picture, class_="scroll", tabindex="0", role="group", aria_label=picture.get("aria-label", ""))
    shown = {"data_row": key or None, "hidden": "" if hidden else None}
    return element("figure", element("figcaption", caption), box, **shown)
