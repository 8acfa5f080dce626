"""Progress that keeps what it is told."""

from forestcoll.base.progress import Progress


class Remarks(Progress):
    """Keeps the remarks, and the stages and remarks in their order.

    Attributes:
        texts: the remarks.
        events: the names of stages and the remarks.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.events: list[str] = []

    def begin(self, stage: str) -> None:
        """See `Progress.begin`."""
        self.events.append(stage)

    def remark(self, text: str) -> None:
        """See `Progress.remark`."""
        self.texts.append(text)
        self.events.append(text)
