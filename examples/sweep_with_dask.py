"""Find networks for many sizes with Dask, on this machine or on a cluster.

pip install 'forestcoll[sweep]'
python examples/sweep_with_dask.py
"""

from distributed import Client, LocalCluster

from forestcoll.design.search.sweep import questions_of, sweep


def main() -> None:
    """Print the frontier of every even size from 8 to 64, at degree 4."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,  # type: ignore[no-untyped-call]
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        for frontier in sweep(questions_of(range(8, 65, 2), [4]), executor=client.get_executor()):
            rows = ", ".join(
                f"{each.name} ({each.cost.steps} steps, {float(each.cost.bandwidth_factor):.4f} M/B)"
                for each in frontier.members
            )
            print(f"{frontier.nodes:>4}  {rows}")


if __name__ == "__main__":
    main()
