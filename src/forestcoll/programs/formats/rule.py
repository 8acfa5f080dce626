"""The rules of a format: what a file must keep so that a runtime loads it and runs it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from forestcoll.programs.formats.location import Location
from forestcoll.programs.model import ProgramFault

_Document_contra = TypeVar("_Document_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class FormatRule(Generic[_Document_contra]):
    """One rule: its permanent identifier, its text, and the function that finds violations: where and what."""

    id: str
    statement: str
    find: Callable[[_Document_contra], Iterable[tuple[Location, str]]]


def first_broken(rules: Iterable[FormatRule[_Document_contra]], document: _Document_contra) -> ProgramFault | None:
    """Return the first of `rules` that `document` breaks, at the first place; None if it breaks none."""
    for rule in rules:
        for place, what in rule.find(document):
            return place.fault(rule.id, what)
    return None
