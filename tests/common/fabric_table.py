"""The results of `fabric.py` as values and as a table."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One figure.

    Attributes:
        fabric: the name of the network.
        operation: the collective, or what was timed.
        size: the data in bytes.
        method: what ran.
        seconds: of each run.
        bound: the greatest algbw in bytes a second; None if there is no bound.
        loss: of the last step of training; None for a collective.
    """

    fabric: str
    operation: str
    size: int
    method: str
    seconds: list[float]
    bound: float | None
    loss: float | None = None

    @property
    def median(self) -> float:
        """The median time in seconds."""
        return statistics.median(self.seconds)

    @property
    def share(self) -> float | None:
        """Which part of the bound was reached, by the median."""
        return None if self.bound is None else self.size / self.median / self.bound

    @property
    def key(self) -> tuple[str, str, int]:
        """What results must share to be compared."""
        return self.fabric, self.operation, self.size


def table(results: Sequence[Result]) -> str:
    """Return the results as a table in Markdown."""
    lines = [
        "| network | operation | MiB | method | median, ms | range, ms | share of the bound | times forestcoll |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    ours = {each.key: each.median for each in results if each.method == "forestcoll"}
    for each in sorted(results, key=lambda each: _order(each, results)):
        cells = (
            each.fabric,
            each.operation,
            f"{each.size / 2**20:.4g}",
            each.method,
            f"{each.median * 1e3:.0f}",
            f"{min(each.seconds) * 1e3:.0f} to {max(each.seconds) * 1e3:.0f}",
            "" if each.share is None else f"{each.share:.1%}",
            f"{each.median / ours[each.key]:.2f}" if each.key in ours else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _order(result: Result, results: Sequence[Result]) -> tuple[int, float]:
    """Order by the first result of the same key, then by time."""
    first = next(place for place, each in enumerate(results) if each.key == result.key)
    return first, result.median
