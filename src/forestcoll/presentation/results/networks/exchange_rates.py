"""The rate of an all-to-all as JSON, with how it was computed."""

from forestcoll.solver.flows.rates import ExchangeRate


def exchange_document(rate: ExchangeRate) -> dict[str, object]:
    """Return the JSON object of a rate; `algbw` and `bound_algbw` are in the unit of the network."""
    return {
        "algbw": float(rate.algbw),
        "bound_algbw": float(rate.bound),
        "method": rate.method,
        "reason": rate.reason or None,
    }
