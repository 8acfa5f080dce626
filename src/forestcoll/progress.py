"""Progress reports of long work: pass a subclass of `Progress` to receive them."""

from collections.abc import Mapping


class Progress:
    """Receives the stages of a long computation and their progress. The methods of this base class do nothing.

    Example:
        >>> from forestcoll import Progress, optimum
        >>> class Stages(Progress):
        ...     def begin(self, stage):
        ...         print(stage)
        >>> str(optimum("ring:nodes=3", progress=Stages()).algbw)
        finding the bottleneck cut
        finding the fewest trees
        '3'
    """

    def begin(self, stage: str) -> None:
        """Called when a stage begins, which ends the previous one. `stage` describes the work."""

    def advance(self, done: int, total: int) -> None:
        """Called when `done` of `total` parts are done; `total` is 0 if unknown. It may raise, to stop the work."""

    def remark(self, text: str) -> None:
        """Called with a sentence for the user. The same sentence may be sent more than once."""

    def note(self, counters: Mapping[str, int]) -> None:
        """Called with the counters of the stage, by name."""


SILENT = Progress()
