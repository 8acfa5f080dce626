"""Stands in for a device with graphs: CPU tensors, where a graph runs again what was captured."""

from collections.abc import Callable

from forestcoll.torch.slots.streams import Host


class Replaying(Host):
    """Captures what runs, and runs it again.

    Attributes:
        log: `capture` or `replay`, of each.
        error: what a capture fails with; nothing if it succeeds.
        is_in_capture: whether the caller captures a graph.
    """

    can_capture = True

    def __init__(self) -> None:
        self.log: list[str] = []
        self.error, self.is_in_capture = "", False

    def is_captured(self) -> bool:
        return self.is_in_capture

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        if self.error:
            raise RuntimeError(self.error)
        self.log.append("capture")

        def replay() -> None:
            self.log.append("replay")
            run()

        return replay
