"""Runs agents, such as thread blocks, in a random order: each is a generator that yields where it may be interrupted.

An agent yields None to let others go on, or a key to sleep until someone wakes that key. After it is woken, it looks
again at what it waits for.
"""

import heapq
import random
from collections.abc import Generator, Hashable
from typing import TypeAlias

Agent: TypeAlias = Generator[Hashable, None, None]


class Fault(Exception):  # noqa: N818 (the fault of a program; it is no error of the executor)
    """What a program does wrong, in words."""


class Interleaving:
    """A random order of agents.

    With `even`, the next agent is drawn anew each time. Otherwise each agent has a random priority, which changes
    rarely, and agents that serve others come last: some stay far behind, so that waits that are missing show.
    """

    def __init__(self, seed: int, *, even: bool) -> None:
        self.random = random.Random(seed)  # noqa: S311 (not for secrets)
        self._even = even
        self._ready: list[tuple[float, int, str | None, Agent]] = []
        self._asleep: dict[Hashable, list[tuple[float, int, str | None, Agent]]] = {}
        self._count = 0

    def add(self, name: str | None, agent: Agent) -> None:
        """Add an agent; one without a name serves the others, and need not come to its end."""
        self._count += 1
        priority = self.random.random() + (name is None and not self._even)
        heapq.heappush(self._ready, (priority, self._count, name, agent))

    def wake(self, key: Hashable) -> None:
        """Let all agents that sleep on `key` look again."""
        for each in self._asleep.pop(key, ()):
            heapq.heappush(self._ready, each)

    def run(self) -> list[str]:
        """Run until nothing more can be done, and return the agents that wait forever."""
        while self._ready:
            priority, number, name, agent = heapq.heappop(self._ready)
            if self._even or (name is not None and self.random.random() < 0.01):
                priority = self.random.random()
            try:
                key = next(agent)
            except StopIteration:
                continue
            each = priority, number, name, agent
            if key is None:
                heapq.heappush(self._ready, each)
            else:
                self._asleep.setdefault(key, []).append(each)
        return sorted(name for listed in self._asleep.values() for _, _, name, _ in listed if name is not None)
