"""Figure 13 of *ForestColl*: FSDP training on two DGX A100, by the model of an iteration.

The paper draws the computing times and does not print them. It prints the share of computing in an iteration with NCCL,
and how much shorter the iteration is with ForestColl. Assumed here: the printed share of computing; no data moves while
a GPU computes, as the paper reports of large models; and NCCL's ring. The iteration with ForestColl follows.
"""

from fractions import Fraction

from exhibits.exhibit import Result, Settings, table, verdict_of
from forestcoll.design.workloads.samples import profile_of
from forestcoll.design.workloads.sharded import layout_times, sharded_iteration

PRINTED = {"gemma-2-27b": (0.65, 0.14), "llama-2-70b": (0.50, 0.20), "llama-3-119b": (0.43, 0.20)}
"""The share of computing with NCCL, and how much shorter an iteration is with ForestColl (§6.4)."""

_NEAR = 0.02
"""A difference between shares of an iteration that counts as the same: the paper prints whole percents of a drawing."""


def made(_settings: Settings) -> Result:
    """Return the table."""
    network = "dgx-a100:boxes=2"
    times = {method: layout_times(network, "fsdp=16", method, alpha_us=Fraction(10)) for method in (None, "nccl-ring")}
    rows, same = [], True
    gains = []
    for name, (share, printed) in PRINTED.items():
        model = profile_of(name).on(16)
        waits = {
            method: sharded_iteration(model, each, overlaps=False).exposed_us / 1000 for method, each in times.items()
        }
        before = waits["nccl-ring"] / (1 - share)
        gain = 1 - (share * before + waits[None]) / before
        same &= abs(gain - printed) <= _NEAR
        gains.append(f"{gain:.1%}")
        cells = (f"{waits['nccl-ring']:.0f}", f"{waits[None]:.0f}", f"{share:.0%}", f"{gain:.1%}", f"{printed:.0%}")
        rows.append((name, *cells))
    heads = ["model", "collectives with NCCL's ring (ms)", "with forestcoll (ms)", "computing, printed"]
    summary = (
        f"With the printed shares of computing, and without overlap, iterations are {', '.join(gains)} shorter "
        "(printed: 14 %, 20 % and 20 %). The collectives are modelled at the bandwidth of the links."
    )
    return Result(verdict_of(same=same), summary, table([*heads, "iteration shorter by", "printed"], rows))
