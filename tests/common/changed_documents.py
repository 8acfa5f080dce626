"""Documents in which one value is changed or missing, to see how readers refuse them."""

from collections.abc import Sequence
from typing import Any

MISSING: Any = object()
"""The value of a key that is removed."""


def changed(document: Any, keys: Sequence[str | int], value: object) -> Any:
    """Return the document with another value at the end of the keys."""
    part = document
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    if value is MISSING:
        del part[keys[-1]]
    return document
