"""The display of values in notebooks, and of texts from outside.

Notebooks call the method `_repr_html_` of a value. Values such as a `Topology` are in lower layers than the
presentation of results and must not import it. So this base class imports the presentation by name, when the method is
called.
"""

import importlib
from typing import cast

_PRESENTATION = "forestcoll.presentation.html"


def printable(text: object) -> str:
    r"""Return `text` with a `?` for each control character and line break, because names come from any file.

    Example:
        >>> printable("two\nlines")
        'two?lines'
    """
    shown = str(text)
    return shown if shown.isprintable() else "".join(each if each.isprintable() else "?" for each in shown)


class Displayed:
    """A value that notebooks display as HTML, made by `forestcoll.presentation.html.html_of`."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return the value as HTML; None, so that a notebook shows its `repr`, if there is no presentation layer."""
        try:
            presentation = importlib.import_module(_PRESENTATION)
        except ModuleNotFoundError as error:
            if error.name not in {_PRESENTATION, _PRESENTATION.rpartition(".")[0]}:
                raise  # the layer is installed, but a module that it needs is not
            return None
        return cast("str", presentation.html_of(self))
