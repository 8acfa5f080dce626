"""How a value shows itself in a notebook, without knowing the code that draws it.

Values such as a `Topology` stand below the presentation layer and must not import it. A notebook asks the value
itself, though, by the method `_repr_html_`. So the method stands here, at the bottom, and finds the presentation layer
by its name when it is called; nothing is imported before.
"""

import importlib
from typing import cast

_PRESENTATION = "forestcoll.presentation.html"


class Displayed:
    """A value that notebooks show as HTML; `forestcoll.presentation.html.html_of` makes it."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return the value as HTML; None, so that its `repr` is shown, where there is no presentation layer."""
        try:
            presentation = importlib.import_module(_PRESENTATION)
        except ModuleNotFoundError as error:
            if error.name not in {_PRESENTATION, _PRESENTATION.rpartition(".")[0]}:
                raise  # the layer is there, but something that it needs is not
            return None
        return cast("str", presentation.html_of(self))
