"""Rules: a verifier applies them one after the other, up to the first that a schedule breaks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from forestcoll.verification.report import Fault

Case_contra = TypeVar("Case_contra", contravariant=True)
Context = TypeVar("Context")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Case_contra]):
    """One rule: its permanent identifier, its statement, and the function that finds the first place that breaks it.

    The function returns a message, or None if the rule holds. It may rely on every rule that is applied before it.
    """

    id: str
    statement: str
    find: Callable[[Case_contra], str | None]


def first_fault(context: Context, rules: Iterable[Rule[Context]]) -> Fault | None:
    """Return the fault of the first of `rules` that `context` breaks, or None if all hold."""
    for rule in rules:
        message = rule.find(context)
        if message is not None:
            return Fault(rule.id, message)
    return None


def statements(rules: Iterable[Rule[Context]]) -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each of `rules`, in order."""
    return tuple((rule.id, rule.statement) for rule in rules)
