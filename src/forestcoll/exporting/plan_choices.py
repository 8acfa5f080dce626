"""The options to choose from for plans of MSCCL++.

A program of trees whose blocks send to one rank at a time has three numbers: the chunks of the data, the *parts* of the
greatest tree, and the bytes of a message. A tree is cut into parts of the size that this gives, which move at the same
time in blocks of their own. So each tree has a number of blocks in proportion to its data, and its blocks get that part
of the links. The parts of a tree differ by at most one chunk, but they differ if their number does not divide the
chunks. So blocks do not begin all messages at the same times, and links are not idle during their overheads.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from forestcoll.exporting.divisible import LOSSES, Count, numbers_of_chunks
from forestcoll.exporting.message_choices import instances_near
from forestcoll.lowering import Options
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.targets.sizes import ALIGNMENT

FINE = 6
"""A part of the greatest tree has at least so many chunks, if there are several."""

MESSAGE = 2**19
"""The bytes of a message of the first program."""


@dataclass(frozen=True, slots=True)
class PlanChoices:
    """The choices for a schedule.

    Attributes:
        share: the greatest share of a tree.
        counts: the numbers of chunks to choose from.
        most_chunks: the most chunks of a program.
        given: the names of options that are not chosen.
        parts_first: whether parts are varied before chunks. If the trees differ, more parts make messages equal, and so
            do fewer chunks, which lose more by rounding.
    """

    share: Fraction
    counts: Sequence[Count]
    most_chunks: int
    given: frozenset[str]
    parts_first: bool = False

    @staticmethod
    def of(schedule: TreeSchedule, counts: Sequence[Count], most_chunks: int, given: Iterable[str]) -> "PlanChoices":
        """Return the choices for a schedule if its programs may have `most_chunks`."""
        share = max(share for phase in schedule.phases for share in phase.shares)
        return PlanChoices(share, counts, most_chunks, frozenset(given))

    @property
    def parts_are_given(self) -> bool:
        """Return whether the number of parts cannot be chosen."""
        return bool(self.given & {"instances", "step_chunks"})

    def parts(self, options: Options) -> int:
        """Return the number of parts of the greatest tree."""
        if options.step_chunks is None:
            return options.instances
        return ceil(Fraction(self._chunks(options) * options.instances, options.step_chunks))

    def message(self, options: Options) -> int:
        """Return the bytes of the greatest message."""
        return (options.step_chunks or self._chunks(options)) * options.round_bytes

    def with_parts(self, options: Options, parts: int, message: int) -> Options:
        """Return options with so many parts of the greatest tree, or as many as there can be, and such messages."""
        if not self.parts_are_given and options.chunks is not None:
            options = self._in_parts(options, options.chunks, parts)
        if "round_bytes" in self.given:
            return options
        size = options.step_chunks or self._chunks(options)
        return replace(options, round_bytes=max(ALIGNMENT, message // size // ALIGNMENT * ALIGNMENT))

    def _in_parts(self, options: Options, chunks: int, parts: int) -> Options:
        if parts == 1:
            return replace(options, instances=1, step_chunks=None)
        greatest, instances = self._chunks(options), 1
        while greatest * instances < FINE * parts and 2 * chunks * instances <= self.most_chunks:
            instances *= 2
        return replace(options, instances=instances, step_chunks=-(-greatest * instances // parts))

    def changed(self, options: Options, name: str, value: int) -> Iterator[Options]:
        """Yield options with another number of chunks or parts, or other messages."""
        parts, message = self.parts(options), self.message(options)
        if name == "chunks":
            yield self.with_parts(replace(options, chunks=value), parts, message)
        elif name == "message":
            yield self.with_parts(options, parts, value)
        else:
            yield self.with_parts(options, value, message * parts // value)
            yield self.with_parts(options, value, message)

    def values(self, options: Options, longest: int) -> Iterator[tuple[str, Sequence[int]]]:  # noqa: ARG002
        """Yield the names of the numbers that `changed` changes, with values to try."""
        chunks = numbers_of_chunks(self.counts, LOSSES)
        parts, message = self.parts(options), self.message(options)
        choices: dict[str, Sequence[int]] = {}
        if not self.parts_are_given and options.chunks is not None:
            choices["parts"] = [each for each in dict.fromkeys(_near(parts)) if each]
        if "round_bytes" not in self.given:
            choices["message"] = [message // 2, message // 4, 2 * message, 4 * message]
        if chunks and "chunks" not in self.given:
            choices["chunks"] = chunks
        names = ("parts", "message", "chunks") if self.parts_first else ("chunks", "message", "parts")
        yield from ((name, choices[name]) for name in names if name in choices)

    def _chunks(self, options: Options) -> int:
        """Return about how many chunks the greatest tree has before `instances`."""
        return max(1, round(self.share * (options.chunks or 1)))


def _near(parts: int) -> tuple[int, ...]:
    return parts + 1, parts + 2, parts + 3, 2 * parts, 3 * parts, parts - 1


@dataclass(frozen=True, slots=True)
class OtherPlanChoices:
    """The choices for plans of flows, and of trees whose data moves in packets.

    Attributes:
        counts: the numbers of chunks to choose from.
        in_rounds: whether data moves in rounds, whose bytes are chosen.
        blocks: the most blocks of a rank.
        given: the names of options that are not chosen.
    """

    counts: Sequence[Count]
    in_rounds: bool
    blocks: int
    given: frozenset[str]

    def values(self, options: Options, longest: int) -> Iterator[tuple[str, Sequence[int]]]:  # noqa: ARG002
        """Yield the options to vary, with their values."""
        choices: dict[str, Sequence[int]] = {"chunks": numbers_of_chunks(self.counts, LOSSES)}
        if self.in_rounds:
            choices["round_bytes"] = (options.round_bytes // 4, options.round_bytes // 2, 4 * options.round_bytes)
        if options.blocks is None:
            choices["blocks"] = sorted({min(64, self.blocks), self.blocks})
        choices["instances"] = instances_near(options)
        yield from ((name, values) for name, values in choices.items() if name not in self.given and values)

    def changed(self, options: Options, name: str, value: int) -> Iterator[Options]:
        """Yield options with another value of one of them; the best number of instances depends on that of blocks."""
        if name == "blocks" and "instances" not in self.given:
            yield from (replace(options, blocks=value, instances=1 << power) for power in range(5))
        elif name == "chunks":
            yield replace(options, chunks=value)
        elif name == "round_bytes":
            yield replace(options, round_bytes=value)
        else:
            yield replace(options, instances=value)
