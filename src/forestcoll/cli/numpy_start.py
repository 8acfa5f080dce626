"""A quick start of NumPy for commands that take less time than the start of its threads."""

import os

_THREADS = "OPENBLAS_NUM_THREADS"


def import_numpy() -> None:
    """Import NumPy without its threads for products of matrices, which forestcoll does not compute.

    OpenBLAS starts one thread for each core and reads its environment variable only then. The variable is restored, so
    that the processes that a command starts have the environment of the user.
    """
    before = os.environ.get(_THREADS)
    os.environ.setdefault(_THREADS, "1")
    import numpy  # noqa: F401 (only the effect of the first import is needed)

    if before is None:
        del os.environ[_THREADS]
