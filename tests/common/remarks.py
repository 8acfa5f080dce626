"""Progress that keeps what it is told."""

from collections.abc import Mapping

from forestcoll.base.progress import Progress


class Remarks(Progress):
    """Keeps the remarks, the stages and remarks in their order, and the counters.

    Attributes:
        texts: the remarks.
        events: the names of stages and the remarks.
        notes: the counters of stages.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.events: list[str] = []
        self.notes: list[Mapping[str, int]] = []

    def begin(self, stage: str) -> None:
        """See `Progress.begin`."""
        self.events.append(stage)

    def remark(self, text: str) -> None:
        """See `Progress.remark`."""
        self.texts.append(text)
        self.events.append(text)

    def note(self, counters: Mapping[str, int]) -> None:
        """See `Progress.note`."""
        self.notes.append(counters)
