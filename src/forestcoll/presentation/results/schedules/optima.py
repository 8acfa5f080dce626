"""Optima of all kinds as a page and as JSON, in the words of their kind."""

from importlib import import_module
from typing import Any

from forestcoll.presentation.tables import Page
from forestcoll.schedule.proof.optimum import Optimum

_WORDS = {"TreeOptimum": "optimum", "FlowOptimum": "flows", "GroupsOptimum": "groups"}
"""The file of this folder with the words for each kind of optimum."""


def words_of(best: Optimum) -> Any:
    """Return the module with the words for a kind of optimum; the others are not imported."""
    return import_module(f"{__package__}.{_WORDS[type(best).__name__]}")


def optimum_document(best: Optimum) -> dict[str, object]:
    """Return the JSON object of an optimum.

    Example:
        >>> from forestcoll import optimum
        >>> optimum_document(optimum("ring:nodes=3"))["algbw"]
        '3'
    """
    document: dict[str, object] = words_of(best).optimum_document(best)
    return document


def optimum_page(best: Optimum) -> Page:
    """Return the page of an optimum.

    Example:
        >>> from forestcoll import optimum
        >>> optimum_page(optimum("ring:nodes=3")).title
        'ring:nodes=3: allgather over 3 compute nodes'
    """
    page: Page = words_of(best).optimum_page(best)
    return page
