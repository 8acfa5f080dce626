"""How long work reports what it is doing: pass a subclass of `Progress`, or nothing to hear nothing."""

from collections.abc import Mapping


class Progress:
    """Is told of every stage and of how far it is; this base class does nothing with it."""

    def begin(self, stage: str) -> None:
        """A stage begins, and the one before it is over; `stage` says what is being done."""

    def advance(self, done: int, total: int) -> None:
        """`done` of `total` parts of the stage are done. May raise to stop the work."""

    def remark(self, text: str) -> None:
        """Something that whoever waits should know, in a sentence; it may come more than once."""

    def note(self, counters: Mapping[str, int]) -> None:
        """The stage tells what it did: how often each thing happened."""


SILENT = Progress()
