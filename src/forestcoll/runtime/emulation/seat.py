"""Takes the place of a rank: a launcher such as mpirun starts this once for each rank of an emulated network.

    mpirun -n 8 python -m forestcoll.runtime.emulation.seat

The launcher's variables say which rank it is; the emulation's file says what that rank runs, and with which variables.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forestcoll.runtime.environment import SEATS, launcher_rank

_MPI = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "OMPI_MCA_btl": "tcp,self"}
"""Make MPICH and Open MPI send over the network: they think that all ranks are on one machine."""


def start_of(environment: Mapping[str, str], seats: Sequence[Mapping[str, Any]]) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment of the rank that `environment` names.

    Raises:
        ValueError: it names none, or one that the network does not have.
    """
    found = launcher_rank(environment)
    if found is None:
        raise ValueError("the launcher sets none of OMPI_COMM_WORLD_RANK, PMI_RANK and PMIX_RANK; use mpirun")
    if found[1] != len(seats):
        raise ValueError(f"the launcher starts {found[1]} ranks, and the network has {len(seats)} compute nodes")
    seat = seats[found[0]]
    return list(seat["words"]), {"OMP_NUM_THREADS": "1"} | _MPI | dict(environment) | dict(seat["environment"])


def main() -> None:
    """Become the rank."""
    try:
        words, environment = start_of(os.environ, json.loads(Path(os.environ[SEATS]).read_text()))
    except ValueError as error:
        sys.exit(f"forestcoll: emulate: {error}")
    os.execvpe(words[0], words, environment)  # noqa: S606 (the command that the user gave)


if __name__ == "__main__":
    main()
