"""Compare the optimal allgather bandwidth of several machines, without making schedules."""

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
    """Print one line per machine: size, optimum, number of trees per root, and the nodes behind the bottleneck."""
    print(f"{'machine':<20}{'N':>5}{'algbw':>12}{'GB/s':>10}{'k':>5}  bottleneck")
    for machine in MACHINES:
        topology = load_topology(machine)
        best, nodes = optimum(topology), len(topology.compute)
        cut = f"{best.exit_bandwidth} {topology.bandwidth_unit} feed {nodes - best.compute_inside} of {nodes}"
        print(f"{machine:<20}{nodes:>5}{best.algbw!s:>12}{float(best.algbw):>10.2f}{best.trees_per_root:>5}  {cut}")


if __name__ == "__main__":
    main()
