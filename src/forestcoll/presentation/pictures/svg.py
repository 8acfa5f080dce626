"""SVG elements as values, and their text.

The text depends on the elements only: attributes keep their order, and numbers have at most two decimals. The standard
library escapes names and texts, and `element` replaces control characters, which XML does not allow.
"""

from xml.etree import ElementTree

from forestcoll.base.display import printable

Element = ElementTree.Element
"""An element of SVG or XHTML."""


def element(tag: str, *content: "Element | str", **attributes: "str | float | None") -> Element:
    """Return an element.

    Args:
        tag: the name of the element, as `circle`.
        content: elements, or texts, in order.
        attributes: the attributes in order. An underscore in a name stands for a hyphen, and one at its end is left out
            (`class_`). An attribute that is None is left out.

    Example:
        >>> text(element("text", "A & B", x=1.5, y=2.0, font_size=12, class_="name"))
        '<text x="1.5" y="2" font-size="12" class="name">A &amp; B</text>'
    """
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    made = Element(
        tag, {name: printable(value) if isinstance(value, str) else number(value) for name, value in names.items()}
    )
    for part in content:
        _append(made, part)
    return made


def _append(parent: Element, part: "Element | str") -> None:
    if not isinstance(part, str):
        parent.append(part)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + printable(part)
    else:
        parent.text = (parent.text or "") + printable(part)


def number(value: float) -> str:
    """Return a coordinate with at most two decimals.

    Example:
        >>> number(2.0), number(1 / 3), number(-0.001)
        ('2', '0.33', '0')
    """
    rounded = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if rounded == "-0" else rounded


def picture(width: float, height: float, title: str, *content: Element) -> Element:
    """Return an `svg` element that scales to the width of its place.

    Args:
        width: the width of the coordinates that the content uses.
        height: their height.
        title: what the picture shows, for readers who cannot see it.
        content: the elements, from back to front.
    """
    return element(
        "svg",
        element("title", title),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
    )


def text(made: Element) -> str:
    """Return the text of an element and its content.

    Args:
        made: an element that `element` returned.
    """
    return ElementTree.tostring(made, encoding="unicode", short_empty_elements=True)
