"""Least squares with bounds: the method of Levenberg and Marquardt, with steps that are clipped to the bounds.

The residuals may be piecewise smooth, because they contain maxima. So the search starts from several points, and the
best result counts. Nothing is random: the same residuals have the same result.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from forestcoll.simulation.loads import FloatArray

Residuals = Callable[[FloatArray], FloatArray]

_MOST_STEPS = 60
_CONVERGED = 1e-9
"""The relative decrease of the sum of squares below which a search ends."""
_STEP = 1e-5
"""The step of a difference quotient, as a part of the value or its scale."""
_STARTS = 2
"""The number of starts, the best ones, from which a search runs."""


@dataclass(frozen=True)
class BoxConstraints:
    """The bounds of the unknowns, and their usual sizes.

    Attributes:
        lower: the least values.
        upper: the greatest values.
        scale: the sizes that are usual, for difference quotients.
    """

    lower: FloatArray
    upper: FloatArray
    scale: FloatArray

    def clipped(self, point: FloatArray) -> FloatArray:
        """Return the point of the box that is nearest to `point`."""
        return np.clip(point, self.lower, self.upper)


def least_squares(residuals: Residuals, starts: Iterable[FloatArray], box: BoxConstraints) -> FloatArray:
    """Return the point of the box with the least sum of squares that a search finds from the best of the starts."""
    points = [box.clipped(start) for start in starts]
    points.sort(key=lambda point: sum_of_squares(residuals(point)))
    found = [_search(residuals, point, box) for point in points[:_STARTS]]
    return min(found, key=lambda point: sum_of_squares(residuals(point)))


def slopes(
    residuals: Residuals, point: FloatArray, box: BoxConstraints, values: FloatArray | None = None
) -> FloatArray:
    """Return the derivative of each residual (row) by each unknown (column), from difference quotients.

    Args:
        residuals: the residuals as a function of the unknowns.
        point: the values of the unknowns.
        box: their bounds.
        values: the residuals at `point`, for one-sided differences; None for central ones, which are more exact.
    """
    columns = []
    for place, (value, scale) in enumerate(zip(point.tolist(), box.scale.tolist(), strict=True)):
        step = _STEP * max(abs(value), scale)
        ends = np.array([point, point])
        ends[1, place] = min(value + step, float(box.upper[place]))
        if values is None or ends[1, place] == value:
            ends[0, place] = max(value - step, float(box.lower[place]))
        low = residuals(ends[0]) if values is None or ends[0, place] != value else values
        columns.append((residuals(ends[1]) - low) / (ends[1, place] - ends[0, place]))
    return np.stack(columns, axis=1)


def sum_of_squares(values: FloatArray) -> float:
    """Return the sum of the squares of residuals."""
    return float(values @ values)


def _search(residuals: Residuals, point: FloatArray, box: BoxConstraints) -> FloatArray:
    """Return the end of a search from `point`."""
    values, damping = residuals(point), 1e-3
    for _ in range(_MOST_STEPS):
        jacobian = slopes(residuals, point, box, values)
        gradient = jacobian.T @ values
        outwards = ((point <= box.lower) & (gradient > 0)) | ((point >= box.upper) & (gradient < 0))
        better = None
        while better is None and damping < 1e9:
            step = _step(jacobian[:, ~outwards], values, damping)
            candidate = point.copy()
            candidate[~outwards] += step
            candidate = box.clipped(candidate)
            changed = residuals(candidate)
            if sum_of_squares(changed) < sum_of_squares(values):
                better = candidate
            else:
                damping *= 4
        if better is None:
            break
        gain = 1 - sum_of_squares(changed) / sum_of_squares(values)
        point, values, damping = better, changed, max(damping / 5, 1e-12)
        if gain < _CONVERGED or not sum_of_squares(values):
            break
    return point


def _step(jacobian: FloatArray, values: FloatArray, damping: float) -> FloatArray:
    """Return the damped Gauss-Newton step."""
    normal = jacobian.T @ jacobian
    weights = np.diag(normal) + 1e-30
    step, *_ = np.linalg.lstsq(normal + damping * np.diag(weights), -jacobian.T @ values, rcond=None)
    return np.asarray(step, dtype=np.float64)
