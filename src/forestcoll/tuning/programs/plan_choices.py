"""The options to choose from for plans of MSCCL++.

A program of trees whose blocks send to one rank at a time has four numbers: the chunks of the data, the *parts* of the
greatest tree, the bytes of a message, and the chunks that a part has at least (*fine*). A tree is cut into parts of the
size that this gives, which move at the same time in blocks of their own. So each tree has a number of blocks in
proportion to its data, and its blocks get that part of the links. Parts of a few chunks differ by one chunk if their
number does not divide the chunks, and parts of many chunks have many sizes. So blocks do not begin all messages at the
same times, and links are not idle during their overheads. If ranks have more parts than blocks, blocks do several parts
in turn; then it may be faster if all parts are one chunk, because only equal parts take turns in one loop.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from forestcoll.programs.formats.sizes import ALIGNMENT
from forestcoll.programs.lowering import Options
from forestcoll.programs.lowering.options import MOST
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.tuning.programs.divisible import LOSSES, ChunkCount, numbers_of_chunks
from forestcoll.tuning.programs.message_choices import instances_near

FINE = (1, 6, 48)
"""The least numbers of chunks of a part of the greatest tree, if there are several: one chunk, so that all parts of all
trees are equal; a few, so that parts differ by one; or enough for parts of many different sizes."""

OTHER_ORDERS = (("parts", "message", "chunks"), ("fine", "parts", "message", "chunks"))
"""Other orders of the numbers. If the trees differ, more or equal parts make messages equal, and so do fewer chunks,
which lose more by rounding."""

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
        order: the names of the numbers in the order in which they are varied.
    """

    share: Fraction
    counts: Sequence[ChunkCount]
    most_chunks: int
    given: frozenset[str]
    order: tuple[str, ...] = ("chunks", "message", "fine", "parts")

    @staticmethod
    def of(
        schedule: TreeSchedule, counts: Sequence[ChunkCount], most_chunks: int, given: Iterable[str]
    ) -> "PlanChoices":
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
        return ceil(options.step_chunks or self._chunks(options)) * options.round_bytes

    def with_parts(self, options: Options, parts: int, message: int, fine: int | None = None) -> Options:
        """Return options with so many parts of the greatest tree, or as many as there can be, and such messages.

        A part has at least `fine` chunks; by default the greatest number of `FINE` that the parts of `options` have.
        """
        if not self.parts_are_given and options.chunks is not None:
            options = self._in_parts(options, options.chunks, parts, self._fineness(options) if fine is None else fine)
        if "round_bytes" in self.given:
            return options
        size = ceil(options.step_chunks or self._chunks(options))
        aligned = min(message // size, MOST) // ALIGNMENT * ALIGNMENT
        return replace(options, round_bytes=max(ALIGNMENT, aligned))

    def _fineness(self, options: Options) -> int:
        if options.step_chunks is None:
            return FINE[1]
        return max(FINE[0], *(each for each in FINE if each <= options.step_chunks))

    def _in_parts(self, options: Options, chunks: int, parts: int, fine: int) -> Options:
        if fine == 1:
            return replace(options, instances=1, step_chunks=1)
        if parts == 1:
            return replace(options, instances=1, step_chunks=None)
        greatest, instances = self._chunks(options), 1
        while greatest * instances < fine * parts and 2 * chunks * instances <= self.most_chunks:
            instances *= 2
        return replace(options, instances=instances, step_chunks=-(-greatest * instances // parts))

    def changed(self, options: Options, name: str, value: int) -> Iterator[Options]:
        """Yield options with another number of chunks or parts, or other messages."""
        parts, message = self.parts(options), self.message(options)
        if name == "chunks":
            yield self.with_parts(replace(options, chunks=value), parts, message)
        elif name == "message":
            yield self.with_parts(options, parts, value)
        elif name == "fine" and value == FINE[0]:
            for chunks in self._numbers_of_chunks or (options.chunks,):
                equal = replace(options, chunks=chunks)
                yield self.with_parts(equal, 1, message * parts // self._chunks(equal), value)
        elif name == "fine":
            yield self.with_parts(options, parts, message, value)
            yield self.with_parts(options, 2 * parts, message // 2, value)
            yield self.with_parts(options, 4 * parts, message // 4, value)
            yield self.with_parts(options, 4 * parts, message // 16, value)  # high trees are filled in less time
        else:
            yield self.with_parts(options, value, message * parts // value)
            yield self.with_parts(options, value, message)

    def values(self, options: Options, longest: int) -> Iterator[tuple[str, Sequence[int]]]:  # noqa: ARG002
        """Yield the names of the numbers that `changed` changes, with values to try."""
        parts, message, fine = self.parts(options), self.message(options), self._fineness(options)
        choices: dict[str, Sequence[int]] = {}
        if not self.parts_are_given and options.chunks is not None:
            choices["fine"] = [each for each in FINE if each != fine]
            choices["parts"] = [each for each in dict.fromkeys(_near(parts, fine)) if each]
        if "round_bytes" not in self.given:
            choices["message"] = [message // 2, message // 4, 2 * message, 4 * message]
            if fine == FINE[2]:
                choices["message"] = [2 * message // 3, *choices["message"]]
        if self._numbers_of_chunks:
            choices["chunks"] = self._numbers_of_chunks
        yield from ((name, choices[name]) for name in self.order if name in choices)

    @property
    def _numbers_of_chunks(self) -> list[int]:
        return [] if "chunks" in self.given else numbers_of_chunks(self.counts, LOSSES)

    def _chunks(self, options: Options) -> int:
        """Return about how many chunks the greatest tree has before `instances`."""
        return max(1, round(self.share * (options.chunks or 1)))


def _near(parts: int, fine: int) -> tuple[int, ...]:
    """Return numbers of parts to try next; if parts are equal, or of many sizes, one more changes little."""
    if fine == FINE[1]:
        return parts + 1, parts + 2, parts + 3, 2 * parts, 3 * parts, parts - 1
    return () if fine == FINE[0] else (parts + parts // 3, parts - parts // 6, 2 * parts, parts // 2)


@dataclass(frozen=True, slots=True)
class OtherPlanChoices:
    """The choices for plans of flows, and of trees whose data moves in packets.

    Attributes:
        counts: the numbers of chunks to choose from.
        in_rounds: whether data moves in rounds, whose bytes are chosen.
        blocks: the most blocks of a rank.
        given: the names of options that are not chosen.
    """

    counts: Sequence[ChunkCount]
    in_rounds: bool
    blocks: int
    given: frozenset[str]

    def values(self, options: Options, longest: int) -> Iterator[tuple[str, Sequence[int]]]:  # noqa: ARG002
        """Yield the options to vary, with their values."""
        choices: dict[str, Sequence[int]] = {"chunks": numbers_of_chunks(self.counts, LOSSES)}
        if self.in_rounds:
            near = (options.round_bytes // 4, options.round_bytes // 2, 4 * options.round_bytes)
            choices["round_bytes"] = [each for each in near if ALIGNMENT <= each <= MOST]
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
