"""The rate of an all-to-all, with how it was computed."""

from forestcoll.presentation.tables import Row, row
from forestcoll.solver.flows.rates import ExchangeRate


def rate_row(label: str, rate: ExchangeRate | None) -> Row:
    """Return the row of a rate; in JSON, `algbw` and `bound_algbw` are in the unit of the network."""
    if rate is None:
        return row(all_to_all_rate=None)
    value = {
        "algbw": float(rate.algbw),
        "bound_algbw": float(rate.bound),
        "method": rate.method,
        "reason": rate.reason or None,
    }
    return row(label, rate.description, all_to_all_rate=value)
