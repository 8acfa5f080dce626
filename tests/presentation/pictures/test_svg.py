"""SVG elements and their text."""

import pytest

from forestcoll.presentation.pictures.svg import element, number, picture, text


def test_names_and_texts_are_escaped() -> None:
    made = text(element("g", 'a<"&', element("b", "x"), "y", title='<&"'))
    assert made == '<g title="&lt;&amp;&quot;">a&lt;"&amp;<b>x</b>y</g>'


def test_attributes_that_are_none_are_left_out() -> None:
    assert text(element("line", x1=0.0, stroke=None, stroke_width=2)) == '<line x1="0" stroke-width="2" />'


@pytest.mark.parametrize(("value", "shown"), [(1, "1"), (1.001, "1"), (10, "10"), (-0.004, "0"), (-3.456, "-3.46")])
def test_numbers_have_at_most_two_decimals(value: float, shown: str) -> None:
    assert number(value) == shown


def test_a_picture_is_a_document_with_a_title() -> None:
    root = picture(10, 20.5, "a & b", element("rect", width=1, height=1))
    assert root.get("viewBox") == "0 0 10 20.5"
    assert root.get("aria-label") == "a & b"
    assert [child.tag for child in root] == ["title", "rect"]
    assert text(root).startswith('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 20.5"')
