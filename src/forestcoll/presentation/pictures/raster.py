"""Files of SVG pictures: as SVG, or as PNG, drawn by the library resvg, which is part of the extra `pictures`."""

import re
from collections.abc import Sequence
from html import unescape
from importlib import util
from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import write_bytes, write_text

FORMATS = (".svg", ".png")
_ZOOM = 2
_VARIABLE = re.compile(r"var\(--[\w-]+, ([^()]+)\)")
"""A variable of CSS with its fallback, which is drawn, because the library does not read variables."""

_LETTERS = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text y="15">letters</text></svg>'
_TEXT = re.compile(r"<text\b[^>]*>(.*?)</text>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_MOST_NAMED = 8
_UNKNOWN = "\u0378"
"""A character that no font has, because Unicode has none of this number."""


def check_picture(path: Path, formats: Sequence[str] = FORMATS) -> None:
    """Check before the work that a picture can be written to this file.

    Raises:
        InputError: the name does not end in one of `formats`, or a PNG is requested and its library is not installed.
    """
    if path.suffix.lower() not in formats:
        raise InputError(f"{path}: the file name must end in one of {', '.join(formats)}, not {shown(path.suffix)}")
    if path.suffix.lower() == ".png":
        check_png()


def write_picture(svg: str, path: Path) -> None:
    """Write a picture to a file, by the end of its name as SVG or PNG.

    Args:
        svg: the text of an `svg` element.
        path: the file.

    Raises:
        InputError: as for `check_picture`, or the file cannot be written.
    """
    check_picture(path)
    if path.suffix.lower() == ".png":
        write_bytes(path, [png_of(svg)])
    else:
        write_text(path, [svg + "\n"])


def check_png() -> None:
    """Check that pictures can be drawn as PNG.

    Raises:
        InputError: resvg-py is not installed, or this system has no font for it.
    """
    if util.find_spec("resvg_py") is None:
        raise InputError("resvg-py, which draws PNG files, is not installed; run: pip install 'forestcoll[pictures]'")
    if _drawn(_LETTERS) == _drawn(_LETTERS.replace("letters", "")):
        raise InputError("this system has no font that PNG files can have; install DejaVu Sans, or write an SVG file")


def png_of(svg: str) -> bytes:
    """Return a picture as PNG, in light colours and with two pixels for each unit of length.

    Texts are drawn in DejaVu Sans or, if it is not installed, in another font of the system.

    Args:
        svg: the text of an `svg` element.

    Raises:
        InputError: as for `check_png`; or the fonts have no glyph for a letter of a text.
    """
    check_png()
    if missing := _missing(svg):
        letters = ", ".join(missing[:_MOST_NAMED])
        raise InputError(f"no font of this system has {letters}; install one that has them, or write an SVG file")
    return _drawn(_VARIABLE.sub(r"\1", svg))


def _missing(svg: str) -> list[str]:
    """Return the letters of the texts of a picture that no font has."""
    texts = (unescape(_TAG.sub("", each)) for each in _TEXT.findall(svg))
    letters = sorted({letter for each in texts for letter in each if not letter.isascii()})
    unknown = _drawn(_LETTERS.replace("letters", _UNKNOWN)) if letters else b""
    return [letter for letter in letters if _drawn(_LETTERS.replace("letters", letter)) == unknown]


def _drawn(svg: str) -> bytes:
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM, font_family="DejaVu Sans", sans_serif_family="DejaVu Sans")
    )
