"""Figure 13 of *ForestColl*: FSDP training on two DGX A100, by the model of an iteration.

The paper draws the computing times and does not print them. It prints the share of computing in an iteration with NCCL,
and how much shorter the iteration is with ForestColl; of small models, only limits of both. Assumed here: the printed
share of computing; no data moves while a GPU computes, as the paper reports of large models; and NCCL's ring. The
iteration with ForestColl follows.
"""

from fractions import Fraction

from exhibits.exhibit import Result, Settings, table, verdict_of
from forestcoll.design.workloads.samples import profile_of
from forestcoll.design.workloads.sharded import layout_times, sharded_iteration

PRINTED = {"gemma-2-27b": (0.65, 0.14), "llama-2-70b": (0.50, 0.20), "llama-3-119b": (0.43, 0.20)}
"""The share of computing with NCCL, and how much shorter an iteration is with ForestColl (§6.4)."""

SMALL = ("gemma-2-2b", "llama-2-7b", "llama-3-8b")
LIMITS = 0.88, 0.05
"""Of small models: the least share, and the limit of how much shorter an iteration is."""

_NEAR = 0.02
"""A difference between shares of an iteration that counts as the same: the paper prints whole percents of a drawing."""


def made(_settings: Settings) -> Result:
    """Return the table."""
    network = "dgx-a100:boxes=2"
    times = [layout_times(network, "fsdp=16", method, alpha_us=Fraction(10)) for method in ("nccl-ring", None)]
    rows, gains = [], {}
    for name, (share, printed) in (PRINTED | dict.fromkeys(SMALL, LIMITS)).items():
        model = profile_of(name).on(16)
        ring, best = (sharded_iteration(model, each, overlaps=False).exposed_us / 1000 for each in times)
        gains[name] = (1 - share) * (1 - best / ring)
        more, most, less = ("> ", "at most ", "< ") if name in SMALL else ("", "", "")
        cells = (f"{ring:.0f}", f"{best:.0f}", f"{more}{share:.0%}", f"{most}{gains[name]:.1%}", f"{less}{printed:.0%}")
        rows.append((name, *cells))
    heads = ["model", "collectives with NCCL's ring (ms)", "with forestcoll (ms)", "computing, printed"]
    large, small = (", ".join(f"{gains[name]:.1%}" for name in names) for names in (PRINTED, SMALL))
    summary = (
        f"With the printed shares of computing, and without overlap, iterations are {large} shorter (printed: 14 %, 20 "
        f"% and 20 %), and those of small models at most {small}, which does not contradict the printed limit of 5 %. "
        "The collectives are modelled at the bandwidth of the links."
    )
    same = all(abs(gains[name] - printed) <= _NEAR for name, (_, printed) in PRINTED.items())
    return Result(verdict_of(same=same), summary, table([*heads, "iteration shorter by", "printed"], rows))
