"""Compare the simulated times of MSCCL programs with those that others measured on 8 MI300X, or fit the model to some.

    .venv/bin/python benchmarks/measured_programs.py
    .venv/bin/python benchmarks/measured_programs.py --sizes 64KiB..4GiB
    .venv/bin/python benchmarks/measured_programs.py --fit

The measurements are in `evidence/published/mi300x-msccl.csv`, and programs of the same form are made by
`tests/common/msccl_forms.py`. `--fit` fits the values of `measured_blocks.csv` to nine of the 48 programs, and
prints them; the other programs are held out.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import log
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "common"))

from forestcoll import load_topology
from forestcoll.algorithms.method import Problem
from forestcoll.base.units import size_name
from forestcoll.comparison.against.program_runs import ProgramRun
from forestcoll.demand.demand import Demand
from forestcoll.programs.formats import msccl_xml
from forestcoll.programs.model import Protocol
from forestcoll.simulation import Costs
from forestcoll.simulation.program.measured_blocks import measured_blocks
from forestcoll.simulation.sizes import sizes_of
from msccl_forms import Form, measured, program_text

NETWORK = load_topology("mi300x:boxes=1")

FITTED = {("allgather", "pairs", 1, 1), ("allgather", "ring", 1, 1), ("allgather", "ring", 2, 1)}
"""The forms whose programs the values are fitted to, with each protocol."""

FITTED_SIZES = (4**8, 4**10, 4**12, 4**14)
"""The sizes in bytes at which they are fitted."""

STEPS = (1.04, 1.01)
"""The factors by which the fit changes a value, as long as that helps."""


def is_fitted(form: Form) -> bool:
    """Return whether the values are fitted to the measurements of a form."""
    return (form.collective, form.shape, form.channels, form.instances) in FITTED


def run_of(form: Form, sizes: Mapping[int, float | None]) -> ProgramRun:
    """Return the program of a form for the sizes at which it did not hang."""
    most = max(sizes) if all(sizes.values()) else max(size for size, algbw in sizes.items() if algbw)
    problem = Problem(NETWORK, Demand(form.collective).bind(NETWORK)[1])
    program = msccl_xml.to_program(msccl_xml.parse_algorithm(program_text(form, most).encode(), where="program"))
    return ProgramRun(problem, program, "program", is_msccl=True)


def compared(chosen: Sequence[int]) -> Iterator[tuple[Form, int, float, float]]:
    """Yield each form and size with the measured and the simulated algbw in GB/s."""
    for form, known in measured().items():
        sizes = [size for size in chosen if known.get(size)]
        for point in run_of(form, known).points(sizes, None):
            yield form, point.size, known[point.size] or 0.0, point.algbw


def main() -> None:
    """Print the table, or the fitted values."""
    parser = argparse.ArgumentParser(description="Compare simulated MSCCL programs with measured ones.")
    parser.add_argument("--sizes", default="1GiB", help="sizes of the table; measured are powers of 4 from 64KiB")
    parser.add_argument("--fit", action="store_true", help="fit the values to nine programs, and print them")
    given = parser.parse_args()
    if given.fit:
        for protocol in Protocol:
            print(protocol, fitted(protocol))
        return
    print("| program | size | measured | simulated | error | use |")
    print("| --- | --- | --- | --- | --- | --- |")
    errors: dict[str, list[float]] = {"fitted": [], "held out": []}
    for form, size, known, found in compared(sizes_of(given.sizes)):
        use = "fitted" if is_fitted(form) else "held out"
        error = found / known - 1
        errors[use].append(abs(error))
        name = f"{form.collective}, {form.shape}, {form.protocol}, {form.channels} x {form.instances}"
        print(f"| {name} | {size_name(size)} | {known:.4g} | {found:.4g} | {100 * error:+.1f} % | {use} |")
    for use, each in errors.items():
        print(f"{use}: {len(each)} figures, median {100 * median(each):.1f} %, worst {100 * max(each):.1f} %")


def fitted(protocol: Protocol) -> dict[str, float]:
    """Return the values of a protocol with the least squares of log(simulated / measured), of its three programs."""
    blocks = measured_blocks(NETWORK, protocol)
    if blocks is None:
        raise SystemExit(f"measured_blocks.csv has no line with {protocol}, to start from")
    forms = {form: sizes for form, sizes in measured().items() if form.protocol == protocol and is_fitted(form)}
    runs = [(run_of(form, sizes), sizes) for form, sizes in forms.items()]

    def loss(values: Mapping[str, float]) -> float:
        costs = with_values(blocks.costs, values)
        points = ((point, sizes[point.size]) for run, sizes in runs for point in run.points(FITTED_SIZES, costs))
        return sum(log(point.algbw / known) ** 2 for point, known in points if known)

    values = {name: getattr(blocks.costs, name) for name in ("block_gbps", "overhead_us", "launch_us")}
    best = loss(values)
    for step in STEPS:
        improved = True
        while improved:
            improved = False
            for name, factor in product(values, (step, 1 / step)):
                while (tried := loss(changed := values | {name: values[name] * factor})) < best:
                    values, best, improved = changed, tried, True
    return {name: round(value, 3) for name, value in values.items()} | {"loss": round(best, 4)}


def with_values(costs: Costs, values: Mapping[str, float]) -> Costs:
    """Return costs with these values; a block receives as fast as it sends and, with Simple, copies as fast."""
    rate = values["block_gbps"]
    copies = rate if costs.copy_gbps == costs.block_gbps else costs.copy_gbps
    return replace(costs, **values, receive_gbps=rate, copy_gbps=copies)


if __name__ == "__main__":
    main()
