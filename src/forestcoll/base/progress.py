"""Progress reports of long computations."""

from collections.abc import Mapping


class Progress:
    """Receives the progress of a long computation. Override methods in a subclass; those of this class do nothing.

    Example:
        >>> from forestcoll import generate
        >>> class Stages(Progress):
        ...     def begin(self, stage: str) -> None:
        ...         print(stage)
        >>> schedule = generate("ring:nodes=3", progress=Stages())
        finding the bottleneck cut
        finding the fewest trees
        growing trees
    """

    def __repr__(self) -> str:
        """Return a text that is short in the signatures of functions, of which `SILENT` is a default."""
        return "SILENT" if type(self) is Progress else f"<{type(self).__name__}>"

    def begin(self, stage: str) -> None:
        """Called when a stage begins and the previous one is done; `stage` describes it in a few words."""

    def advance(self, done: int, total: int) -> None:
        """Called when `done` of `total` parts of the stage are done. It may raise an exception to stop the work."""

    def remark(self, text: str) -> None:
        """Called with a sentence for the user, possibly more than once with the same sentence."""

    def note(self, counters: Mapping[str, int]) -> None:
        """Called with the counters of the stage: for each kind of event, how often it happened."""


SILENT = Progress()
