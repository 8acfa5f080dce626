"""Create and save figures. No other module imports matplotlib or writes picture files."""

import warnings
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestcoll.base.display import printable
from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure with this width and height, in inches.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("matplotlib is not installed; run: pip install 'forestcoll[pictures]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def label(text: object) -> str:
    r"""Return a text from outside for a figure: printable, and without matplotlib's mathematical notation.

    Example:
        >>> label("a\n$b$")
        'a?\\$b\\$'
    """
    return printable(text).replace("$", r"\$")


def check_pictures(paths: Iterable[Path]) -> None:
    """Check before the work that pictures can be drawn into these files.

    Raises:
        InputError: a name does not say what kind of picture it is, or matplotlib is not installed.
    """
    listed = list(paths)
    for path in listed:
        check_name(path)
    if listed:
        new_figure(1, 1)


def check_name(path: Path) -> None:
    """Check that the file name of a picture ends in a supported format.

    Raises:
        InputError: the ending is not one of `FORMATS`.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: the file name must end in one of {', '.join(FORMATS)}, not {shown(path.suffix)}")


def save(figure: "Figure", path: Path) -> None:
    """Write `figure` to `path`. The same figure gives the same bytes.

    If writing fails, an existing file stays as it was.

    Raises:
        InputError: the file cannot be written, or its name does not end in one of `FORMATS`.
    """
    check_name(path)
    from matplotlib import rc_context

    kind = path.suffix.lower().removeprefix(".")
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    data = BytesIO()
    with rc_context({"svg.hashsalt": "forestcoll"}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a glyph that the font does not have is drawn as a box
        figure.savefig(data, format=kind, dpi=150, metadata=metadata)
    write_bytes(path, [data.getvalue()])
