"""Writes an order of ranks: one line a rank, or as launchers read it.

| format | a line | used by |
| --- | --- | --- |
| `ranks` | host and compute node, for each rank | people and scripts |
| `hostfile` | `HOST slots=8`, for each host | `mpirun --hostfile FILE` of Open MPI |
| `rankfile` | `rank 0=HOST slot=0`, for each rank; slots are numbered in each host | `mpirun --rankfile FILE` |
| `slurm` | the host, for each rank | `SLURM_HOSTFILE=FILE srun --distribution=arbitrary` |
"""

from collections.abc import Iterator

from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike, as_path, write_text
from forestcoll.nccl.order.rank_order import RankOrder

FORMATS = ("ranks", "hostfile", "rankfile", "slurm")
"""The formats, the default first."""

COMMANDS = {
    "hostfile": "mpirun --hostfile {}",
    "rankfile": "mpirun --rankfile {}",
    "slurm": "SLURM_HOSTFILE={} srun --distribution=arbitrary",
}
"""How a launcher is told the file of each format."""


def write_order(order: RankOrder, file: PathLike, to: str = FORMATS[0]) -> None:
    """Write an order to a file.

    Args:
        order: the order.
        file: the file; `-` is standard output.
        to: one of `FORMATS`.

    Raises:
        InputError: there is no such format, the name of a host has a blank, or the file cannot be written.
    """
    write_text(as_path(file), list(order_lines(order, to)))


def order_lines(order: RankOrder, to: str = FORMATS[0]) -> Iterator[str]:
    """Yield the lines of a file; see `write_order`.

    Example:
        >>> from forestcoll.nccl.order.rank_order import rank_order
        >>> print(*order_lines(rank_order("dgx-a100:boxes=2"), "hostfile"), sep="")
        b0 slots=8
        b1 slots=8
        <BLANKLINE>
    """
    if to not in FORMATS:
        raise InputError(f"there is no format {shown(to)}; use {', '.join(FORMATS)}")
    rank = 0
    for host, members in order.hosts:
        if not host or len(host.split()) != 1 or "=" in host:
            raise InputError(f"host {shown(host)}: a blank or = is not possible in the files; import it with --names")
        if to == "hostfile":
            yield f"{host} slots={len(members)}\n"
            continue
        for slot, node in enumerate(members):
            lines = {
                "ranks": f"{host} {order.topology.nodes[node].id}",
                "rankfile": f"rank {rank}={host} slot={slot}",
                "slurm": host,
            }
            yield f"{lines[to]}\n"
            rank += 1
