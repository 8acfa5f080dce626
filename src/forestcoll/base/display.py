"""The display of values, and of texts from outside.

`print` shows the page of a value, as its command prints it, and a notebook the same page as HTML, with a picture.
`repr` is one line, however large the value is.
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
        >>> best = optimum("ring:nodes=4")
        >>> print(best)  # doctest: +ELLIPSIS
        ring:nodes=4: allgather over 4 compute nodes
          algbw ...
        >>> best
        <TreeOptimum: ring:nodes=4: allgather over 4 compute nodes>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {_presentation().page_of(self).title}>"

    def __str__(self) -> str:
        return "\n".join(_presentation().page_of(self).lines())

    def _repr_html_(self) -> str:
        return cast("str", _presentation().html_of(self))

    def records(self) -> list[dict[str, object]]:
        """Return the rows of the first table as dictionaries, for `pandas.DataFrame(value.records())`.

        A value without a table is one row. Exact numbers are given as floats.

        Example:
            >>> from forestcoll import failures
            >>> [(each["change"], each["algbw"], each["count"]) for each in failures("ring:nodes=3").records()]
            [('0--1', 1.5, 3)]
        """
        return cast("list[dict[str, object]]", _presentation().page_of(self).records())


def _presentation() -> Any:
    return importlib.import_module("forestcoll.presentation.html")
