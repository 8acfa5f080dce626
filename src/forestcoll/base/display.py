"""The display of values, and of texts from outside.

`print` shows the page of a value, as its command prints it, and a notebook the same page as HTML, with a picture.
Values such as a `Topology` are in lower layers than the presentation of results and must not import it. So this base
class imports the presentation by name, when it is used.
"""

import importlib
from typing import Any, cast


def printable(text: object) -> str:
    r"""Return `text` with a `?` for each control character and line break, because names come from any file.

    Example:
        >>> printable("two\nlines")
        'two?lines'
    """
    shown = str(text)
    return shown if shown.isprintable() else "".join(each if each.isprintable() else "?" for each in shown)


class Displayed:
    """A value that `print` and notebooks show as a page, which `forestcoll.presentation.html` makes.

    Example:
        >>> from forestcoll import optimum
        >>> print(optimum("ring:nodes=4"))  # doctest: +ELLIPSIS
        ring:nodes=4: allgather over 4 compute nodes
          algbw ...
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(_presentation().page_of(self).lines())

    def _repr_html_(self) -> str:
        return cast("str", _presentation().html_of(self))


def _presentation() -> Any:
    return importlib.import_module("forestcoll.presentation.html")
