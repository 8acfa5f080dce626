"""Dependencies between the blocks of a rank, found from what their instructions read and write.

Instructions are added in an order in which they could be done one at a time. An instruction that reads a chunk depends
on the last one that wrote it. An instruction that writes a chunk depends on the last one that wrote it and on all that
read it since. Within a block the order is fixed already. A block does not wait for an instruction twice, directly or by
another dependency.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from forestcoll.programs.model import Buffer, Dependency, Span

Cell: TypeAlias = tuple[Buffer | None, int]


_NOTHING: Mapping[int, int] = {}


class Hazards:
    """The last reads and writes of each cell of a rank. A cell is a range of chunks that is always used as a whole."""

    def __init__(self, *, aliased: bool) -> None:
        """Start with nothing read or written; `aliased`: input and output may be the same memory."""
        self._aliased = aliased
        self._written: dict[Cell, tuple[int, int]] = {}
        self._read: dict[Cell, dict[int, int]] = {}
        self._known: dict[int, list[Mapping[int, int]]] = {}

    def cells(self, span: Span, ranges: range) -> list[Cell]:
        """Return the cells of `span`, which contains the ranges number `ranges` of the data."""
        if span.buffer is Buffer.SCRATCH:
            return [(Buffer.SCRATCH, span.offset)]
        buffer = None if self._aliased else span.buffer
        return [(buffer, each) for each in ranges]

    def step(
        self,
        block: int,
        instruction: int,
        reads: Iterable[Cell],
        writes: Iterable[Cell],
        *,
        after: Iterable[tuple[int, int]] = (),
    ) -> tuple[Dependency, ...]:
        """Record what an instruction reads and writes, and return what it has to wait for, by block.

        `after` are the blocks and the numbers of other instructions that it waits for.
        """
        needed: dict[int, int] = {}
        for each in after:
            self._need(needed, each)
        for cell in reads:
            self._need(needed, self._written.get(cell))
            since = self._read.setdefault(cell, {})
            since[block] = instruction
        for cell in writes:
            self._need(needed, self._written.get(cell))
            for reader in self._read.pop(cell, {}).items():
                self._need(needed, reader)
            self._written[cell] = block, instruction
        known = self._known.setdefault(block, [_NOTHING])
        if not needed:
            known.append(known[-1])
            return ()
        return self._fresh(block, needed, known)

    def _need(self, needed: dict[int, int], step: tuple[int, int] | None) -> None:
        if step is not None:
            needed[step[0]] = max(step[1], needed.get(step[0], -1))

    def _fresh(self, block: int, needed: dict[int, int], known: list[Mapping[int, int]]) -> tuple[Dependency, ...]:
        """Return the steps of `needed` that are not implied by earlier dependencies of the block or by each other."""
        last = known[-1]
        new = {other: step for other, step in needed.items() if other != block and step > last.get(other, -1)}
        if not new:
            known.append(last)
            return ()
        learnt = {other: self._known[other][step + 1] for other, step in new.items()}
        if len(new) == 1:  # the most frequent case
            [(other, step)] = new.items()
            known.append(_joined([last, new, *learnt.values()]) if learnt[other] else {**last, other: step})
            return (Dependency(other, step),)
        fresh = sorted(
            other
            for other, step in new.items()
            if all(step > each.get(other, -1) for third, each in learnt.items() if third != other)
        )
        known.append(_joined([last, new, *learnt.values()]))
        return tuple(Dependency(other, new[other]) for other in fresh)

    def forget(self, cells: Iterable[Cell]) -> None:
        """Forget the accesses of `cells`, because later accesses are ordered in another way."""
        for cell in cells:
            self._written.pop(cell, None)
            self._read.pop(cell, None)


def _joined(steps: Iterable[Mapping[int, int]]) -> Mapping[int, int]:
    """Return, for each block, the greatest step in any of `steps`."""
    first, *others = steps
    joined = dict(first)
    for each in others:
        for block, step in each.items():
            if step > joined.get(block, -1):
                joined[block] = step
    return joined
