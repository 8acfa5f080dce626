"""The one place that asks for matplotlib and that writes its files."""

from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.errors import InputError, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of that size, in inches.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("matplotlib is not installed; run: pip install 'forestcoll[pictures]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def check_name(path: Path) -> None:
    """Check that the name of a picture says what kind it is.

    Raises:
        InputError: it does not.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: a picture's name must end in one of {', '.join(FORMATS)}, not {shown(path.suffix)}")


def save(figure: "Figure", path: Path) -> None:
    """Write `figure` to `path`, the same bytes for the same figure.

    Raises:
        InputError: the file cannot be written, or its name does not say what kind of picture it is.
    """
    check_name(path)
    from matplotlib import rc_context

    kind = path.suffix.lower()
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(kind, {})
    try:
        with rc_context({"svg.hashsalt": "forestcoll"}):
            figure.savefig(path, dpi=150, metadata=metadata)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
