"""A mixin for values that notebooks show as HTML.

Notebooks call the method `_repr_html_` of a value. Values such as a `Topology` belong to layers below the presentation
layer and must not import it. So the method imports the presentation layer by its name when it is called.
"""

import importlib
from typing import cast

_PRESENTATION = "forestcoll.presentation.html"


class Displayed:
    """A value that notebooks show as HTML, made by `forestcoll.presentation.html.html_of`."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return the value as HTML. Without a presentation layer, return None; the notebook then shows the `repr`."""
        try:
            presentation = importlib.import_module(_PRESENTATION)
        except ModuleNotFoundError as error:
            if error.name not in {_PRESENTATION, _PRESENTATION.rpartition(".")[0]}:
                raise  # the presentation layer exists, but a module that it needs does not
            return None
        return cast("str", presentation.html_of(self))
