"""TACOS: whenever a path is free, a place takes a chunk that it needs, in random order."""

from collections.abc import Sequence
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

import numpy as np

from forestcoll.kernels.interface import ReportProgress, TakenChunks


class _Transfer(NamedTuple):
    """A chunk on its way between two places; transfers are ordered by their ends, then by their begins."""

    end: int
    number: int
    chunk: int
    source: int
    target: int


def take_chunks(
    places: int,
    links: Sequence[Sequence[int]],
    rates: Sequence[int],
    durations: Sequence[int],
    capacities: Sequence[int],
    chunks: int,
    seed: int,
    progress: ReportProgress = None,
) -> TakenChunks:
    """See `Core.take_chunks`."""
    del progress
    run = _Run(places, links, rates, durations, capacities, chunks, seed)
    now = 0
    run.assign(now)
    while run.waiting:
        now = run.waiting[0].end
        while run.waiting and run.waiting[0].end == now:
            run.deliver(heappop(run.waiting))
        run.assign(now)
    columns = np.array([each[2:] for each in run.taken], dtype=np.int32).reshape(-1, 3).T
    return TakenChunks(now, *columns)


class _Run:
    """One run of the algorithm."""

    def __init__(
        self,
        places: int,
        links: Sequence[Sequence[int]],
        rates: Sequence[int],
        durations: Sequence[int],
        capacities: Sequence[int],
        chunks: int,
        seed: int,
    ) -> None:
        self._places, self._links, self._rates, self._durations = places, links, rates, durations
        self._random = Random(seed)  # noqa: S311 (not for security: the same seed gives the same schedule)
        self._left = list(capacities)
        self._holders = [{chunk // chunks} for chunk in range(places * chunks)]
        self._missing = [
            (chunk, target) for chunk in range(places * chunks) for target in range(places) if target != chunk // chunks
        ]
        self._started = 0
        self.waiting: list[_Transfer] = []
        self.taken: list[_Transfer] = []

    def _usable(self, chunk: int, target: int) -> list[int]:
        """Return the places with a chunk that have a free path to a target."""
        paths = {source: source * self._places + target for source in sorted(self._holders[chunk])}
        return [source for source, path in paths.items() if self._links[path] and self._is_free(path)]

    def _is_free(self, path: int) -> bool:
        return all(self._left[link] >= self._rates[path] for link in self._links[path])

    def _hold(self, transfer: _Transfer, sign: int) -> None:
        """Take the rate of a transfer from all its links, or give it back."""
        path = transfer.source * self._places + transfer.target
        for link in self._links[path]:
            self._left[link] -= sign * self._rates[path]

    def deliver(self, transfer: _Transfer) -> None:
        """End a transfer."""
        self._holders[transfer.chunk].add(transfer.target)
        self.taken.append(transfer)
        self._hold(transfer, -1)

    def assign(self, now: int) -> None:
        """Let the missing pairs take free paths, in random order."""
        able = [pair for pair in self._missing if self._usable(*pair)]
        self._random.shuffle(able)
        started = set()
        for chunk, target in able:
            usable = self._usable(chunk, target)
            if usable:
                self._start(now, chunk, self._fastest(usable, target), target)
                started.add((chunk, target))
        self._missing = [pair for pair in self._missing if pair not in started]

    def _fastest(self, usable: Sequence[int], target: int) -> int:
        """Return one of the usable sources from which a chunk arrives first."""
        rates = {source: self._rates[source * self._places + target] for source in usable}
        return self._random.choice([source for source in usable if rates[source] == max(rates.values())])

    def _start(self, now: int, chunk: int, source: int, target: int) -> None:
        self._started += 1
        end = now + self._durations[source * self._places + target]
        transfer = _Transfer(end, self._started, chunk, source, target)
        self._hold(transfer, 1)
        heappush(self.waiting, transfer)
