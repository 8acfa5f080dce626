"""Progress reports of long work: pass a subclass of `Progress` to receive them."""

from collections.abc import Mapping


class Progress:
    """Receives every stage and how much of it is done; this base class ignores both."""

    def begin(self, stage: str) -> None:
        """A stage begins, and the previous one is over; `stage` says what is being done."""

    def advance(self, done: int, total: int) -> None:
        """`done` of `total` parts of the stage are done. May raise to stop the work."""

    def remark(self, text: str) -> None:
        """A sentence that the user should read while waiting; the same sentence may be sent more than once."""

    def note(self, counters: Mapping[str, int]) -> None:
        """The counters of the stage: how often each thing happened."""


SILENT = Progress()
