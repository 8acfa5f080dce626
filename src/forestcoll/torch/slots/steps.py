"""A collective on given tensors as slots: what starts together, what is done beside it, and what after it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch.distributed as dist

from forestcoll.base.errors import CommunicationError, first_line

Action = Callable[[], object]
"""Work on memory, such as a copy or a sum."""

Transfer = Callable[[], Sequence[dist.Work]]
"""Starts operations of the backend and returns their handles."""


@dataclass(slots=True)
class Step:
    """A slot of this rank.

    Attributes:
        transfers: what starts together, in the same order on all ranks.
        beside: what is done while data move.
        after: what is done when they have come.
        peers: the ranks that it exchanges data with.
    """

    transfers: list[Transfer] = field(default_factory=list)
    beside: list[Action] = field(default_factory=list)
    after: list[Action] = field(default_factory=list)
    peers: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Bound:
    """A collective that is ready to run, also several times; each run starts from what the tensors hold.

    Attributes:
        name: of the collective and its path, for messages.
        before: what is done first.
        steps: the slots.
        finally_: what is done last.
    """

    name: str
    before: list[Action] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    finally_: list[Action] = field(default_factory=list)

    def run(self) -> None:
        """Run it; on CUDA, the present stream waits, not the caller.

        Raises:
            CommunicationError: an operation has failed; the message has the slot and its peers.
        """
        for action in self.before:
            action()
        for number, step in enumerate(self.steps):
            try:
                works = [work for transfer in step.transfers for work in transfer()]
                for action in step.beside:
                    action()
                for work in works:
                    work.wait()
            except RuntimeError as error:
                peers = ", ".join(map(str, sorted(step.peers)))
                raise CommunicationError(
                    f"{self.name}: slot {number + 1} of {len(self.steps)}, with ranks {peers}: {first_line(error)}"
                ) from error
            for action in step.after:
                action()
        for action in self.finally_:
            action()
