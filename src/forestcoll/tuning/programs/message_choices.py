"""The options to choose from for programs of messages, as MSCCL runs them.

One option is changed at a time, with what has to change with it. Fewer chunks lose more by rounding. More instances
move more than a block can and hide overheads, and need more blocks. Smaller messages move through tall trees in less
time, and need more steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

from forestcoll.demand.collective import Collective
from forestcoll.programs.formats.msccl_xml.dialects import CONNECTIONS, joined_bytes
from forestcoll.programs.lowering import Options, lowerer_for
from forestcoll.programs.lowering.options import MOST
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.shape import TreeShape, tree_shape
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.tuning.programs.divisible import LOSSES, ChunkCount, numbers_of_chunks

MOST_INSTANCES = 16
"""The most instances that are tried."""

CHANGES_STEPS = {"halves", "strands", "more_steps", "whole"}
"""The changes that also change the chunks of a step."""

LANES = (2,)
"""The numbers of lanes that are tried: with two, one moves data during the overhead of the other."""

HIGH = 4
"""Trees are high if they have this height on average: data often waits, so lanes are tried."""

STRANDS = (1, 2, 3)
"""The numbers of strands that are tried if there is one root: one moves data in the overheads of the others."""

MORE_STEPS = (20, 40, 60, 100)
"""By how many percent the steps in strands are tried to be more: a rank has too few left to double their number."""

MOST_PIECES = 2**28
"""The most pieces that are a message; four times as many are tried, and are still an option."""

SLOT = CONNECTIONS[Options().protocol.value].slot_bytes
"""The bytes of the greatest message of MSCCL."""


@dataclass(frozen=True)
class MessageChoices:
    """The choices for a schedule.

    Attributes:
        schedule: the schedule.
        counts: the numbers of chunks to choose from; none for steps, flows and exact shares.
        given: the options that are not chosen, with their values.
        size: the size of M for which the program is chosen, in bytes.
        blocks: the most blocks of a rank.
        most_instructions: the most instructions of a program.
        finest: the most chunks of a program.
        with_lanes: whether lanes may be tried.
    """

    schedule: Schedule
    counts: Sequence[ChunkCount]
    given: dict[str, Any]
    size: int
    blocks: int
    most_instructions: int
    finest: int
    with_lanes: bool = True

    def chunks_of_message(self, chunks: int, trees: int = 0) -> int:
        """Return how many chunks a step moves first: as many as fit in a message with the greatest size.

        With more, the last ones only wait for each other. There are more if the program could not be simulated else.
        """
        return max(1, min(MOST, SLOT * chunks // self.size), self._least_step(chunks, trees))

    def _least_step(self, chunks: int, trees: int) -> int:
        """Return the least number of chunks of a step with which the program can be simulated.

        On average, each of `trees` has half a step more, because its chunks are not a multiple of those of a step.
        """
        hops = 2 * (len(self.schedule.members) - 1) * (2 if self.schedule.collective is Collective.ALLREDUCE else 1)
        return max(1, ceil(hops * chunks / max(1, self.most_instructions - hops * trees // 2)))

    def values(self, options: Options, longest: int) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield the options to vary, with their values; `halves` are the chunks of steps of parallel instances.

        Args:
            options: the options of the best program so far.
            longest: the most chunks that an instruction of this program moves.
        """
        choices: dict[str, Sequence[int]] = {}
        if self._has_lanes:
            choices["lanes"] = LANES
        if self._has_strands:
            choices["strands"] = STRANDS
        choices["chunks"] = numbers_of_chunks(self.counts, LOSSES if options.lanes is None else LOSSES[:2])
        if options.blocks is None:
            choices["blocks"] = sorted({min(64, self.blocks), self.blocks})
        choices["instances"] = instances_near(options)
        if self.counts:
            choices["step_chunks"] = self._step_chunks(options, longest)
        if lowerer_for(self.schedule).in_pieces:
            choices |= self._choices_in_pieces(options)
        if options.strands > 1:
            choices = {"strands": STRANDS} | ({"more_steps": MORE_STEPS} if (options.step_chunks or 1) > 1 else {})
        if options.lanes is not None:  # they are parallel blocks already
            choices = {name: values for name, values in choices.items() if name in {"chunks", "step_chunks"}}
        if self.given.keys() & {"instances", "pieces", "step_chunks"}:
            choices = {name: values for name, values in choices.items() if name not in CHANGES_STEPS}
        yield from ((name, values) for name, values in choices.items() if name not in self.given and values)

    def changed(self, options: Options, name: str, value: int) -> Iterator[Options]:
        """Yield options with another value of one of them, and what has to change with it.

        Messages keep their sizes if the number of chunks changes. Instances need more blocks, and steps of two chunks,
        so that the first messages of an instance can be smaller; in high trees messages have 3/8 of a slot, because
        they wait in each rank. Instances that share a link take longer for a message, so `halves` also tries smaller
        messages. Strands are tried instead of instances, with as many chunks as possible and messages of 3/8 of a slot,
        and then `more_steps`: some messages have a chunk less than others, so that the steps fit the limits.
        With `whole`, there are pieces as large as messages, which go through a tree in one round instead of many.
        Lanes need small messages, in one round, because blocks continue the work of others within a round, and little
        rounding.
        """
        chunks, known = options.chunks, options.step_chunks
        if name == "halves":
            halves = replace(options, instances=max(2, options.instances), blocks=self._blocks, step_chunks=value)
            half = self._pieces(halves)[0]
            pieces = {max(options.pieces, each) for each in (half // 2, half)}
            yield from (replace(halves, pieces=each) for each in sorted(pieces))
            return
        if name == "strands":
            finest = max(1, self.finest // (chunks or 1))
            strands = replace(options, instances=1, strands=value, blocks=self._blocks, pieces=finest)
            yield replace(strands, step_chunks=self._small_step(self.finest))
            return
        if name == "more_steps":
            mean = Fraction(options.step_chunks or 1) * 100 / (100 + value)
            yield replace(options, step_chunks=max(Fraction(1), mean))
            return
        change: dict[str, Any] = {"pieces" if name == "whole" else name: value}
        if name == "instances" and isinstance(self.schedule, TreeSchedule):
            change["blocks"] = self._blocks
        changed = replace(options, **change)
        if known is None or chunks is None or self.given.keys() & {"chunks", "step_chunks"}:
            yield changed
        elif name == "chunks":
            yield replace(changed, step_chunks=min(MOST, ceil(known * value / chunks)))
        elif name == "lanes":
            pieces = self.given.get("pieces", self.finest // self._most_chunks)
            step = self.chunks_of_message(self._most_chunks * pieces, self._trees)
            yield replace(changed, chunks=self._most_chunks, step_chunks=step, instances=1, pieces=pieces)
        elif name == "instances" and value > known == 1 and self.has_high_trees and chunks * value < self._most_chunks:
            step = self._small_step(self._most_chunks)
            yield replace(changed, chunks=self._most_chunks // value, step_chunks=step)
        else:
            yield changed
            if name == "instances" and value > 1 and known == 1 and "pieces" not in self.given:
                yield replace(changed, pieces=2 * options.pieces, step_chunks=2)

    def _small_step(self, chunks: int) -> int:
        """Return how many of `chunks` are a message of 3/8 of a slot."""
        return max(1, min(MOST, 3 * SLOT * chunks // (8 * self.size)))

    def _choices_in_pieces(self, options: Options) -> dict[str, Sequence[int]]:
        """Return the options of programs whose data may be cut into pieces."""
        choices: dict[str, Sequence[int]] = {"pieces": self._pieces(options)}
        if self.counts and options.step_chunks == 1:
            choices["halves"] = (2, 3)
        if (whole := self._pieces_of_messages(options)) > options.pieces:
            choices["whole"] = (whole,)
        return choices

    def _pieces(self, options: Options) -> Sequence[int]:
        """Return numbers of pieces with which messages are a half and a quarter of the greatest.

        The chunks of flows are not known here; more than two pieces rarely fit, as each flow has its own instructions.
        """
        if not self.counts:
            return [2]
        whole = self._pieces_of_messages(options)
        return [2 * whole, 4 * whole]

    def _pieces_of_messages(self, options: Options) -> int:
        """Return the least power of two of pieces with which a step of several chunks is one message."""
        chunks = (options.chunks or 1) * options.instances
        joined = joined_bytes(options.protocol.value, has_root=self.schedule.collective.has_root)
        greatest = self.size * (options.step_chunks or 1) // (chunks * joined)
        return min(MOST_PIECES, 1 << (max(1, greatest) - 1).bit_length())

    def _step_chunks(self, options: Options, longest: int) -> Sequence[int]:
        """Return numbers of chunks of a step; larger ones only if trees have so many."""
        known = int(options.step_chunks or 1)
        if options.lanes is not None:
            least = self._least_step((options.chunks or 1) * options.pieces, self._trees)
            return [
                each
                for each in (least, known + 1, known * 3 // 4, known * 3 // 2)
                if each not in (0, known) and each <= MOST
            ]
        trees = {count.chunks: count.trees for count in self.counts}
        has_longer = options.pieces > 1 or (options.chunks or 0) > trees.get(options.chunks or 0, 0)
        larger = [2 * known, 4 * known] if longest >= known and has_longer else []
        return [each for each in (known // 2, *larger) if 0 < each <= MOST]

    @property
    def _blocks(self) -> int:
        """The most blocks for parallel instances."""
        return int(self.given.get("blocks", self.blocks))

    @property
    def _most_chunks(self) -> int:
        return self.counts[-1].chunks if self.counts else 0

    @property
    def _has_lanes(self) -> bool:
        has_root = self.schedule.collective.has_root
        return self.with_lanes and self.has_high_trees and bool(self.counts) and not has_root

    @property
    def _has_strands(self) -> bool:
        return bool(self.counts) and self.schedule.collective.has_root

    @property
    def has_high_trees(self) -> bool:
        """Whether data often waits on its way."""
        return self._shape is not None and self._shape.mean_height >= HIGH

    @property
    def _trees(self) -> int:
        return self._shape.trees if self._shape else 0

    @cached_property
    def _shape(self) -> TreeShape | None:
        return tree_shape(self.schedule) if isinstance(self.schedule, TreeSchedule) else None


def instances_near(options: Options) -> Sequence[int]:
    """Return numbers of instances to try: more, and half as many."""
    more = [options.instances << power for power in range(1, 5) if options.instances << power <= MOST_INSTANCES]
    return [*more, options.instances // 2] if options.instances > 1 else more
