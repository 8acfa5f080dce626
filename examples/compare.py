"""How fast could an allgather be? The optimum of several machines side by side, without making a schedule."""

from forestcoll import load_topology, optimum

MACHINES = (
    "dgx-a100:boxes=2",
    "dgx-a100:boxes=16",
    "dgx-h100:boxes=2",
    "dgx-h100:boxes=16",
    "mi250:boxes=2",
    "mi300x:boxes=2",
    "gb200-nvl72",
)


def main() -> None:
    """Print a line a machine: size, optimum, how many trees reach it, and how many nodes the bottleneck feeds."""
    print(f"{'machine':<20}{'N':>5}{'algbw':>12}{'GB/s':>10}{'k':>5}  bottleneck")
    for machine in MACHINES:
        topology = load_topology(machine)
        best, nodes = optimum(topology), len(topology.compute)
        cut = f"{best.exit_bandwidth} {topology.bandwidth_unit} feed {nodes - best.compute_inside} of {nodes}"
        print(f"{machine:<20}{nodes:>5}{best.algbw!s:>12}{float(best.algbw):>10.2f}{best.trees_per_root:>5}  {cut}")


if __name__ == "__main__":
    main()
