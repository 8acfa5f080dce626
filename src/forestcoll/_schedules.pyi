# The large arrays of schedules: read, written and verified. Only `schedule` and `verification` import this module.

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

_Numbers: TypeAlias = npt.NDArray[np.signedinteger[Any]]
_Marks: TypeAlias = npt.NDArray[np.uint8]

class Rows:
    def __init__(self, starts: _Numbers, entries: _Numbers) -> None: ...

class Phase:
    def __init__(
        self,
        trees: Rows,
        roots: npt.NDArray[np.int32],
        units: npt.NDArray[np.int64],
        may_be_root: _Marks,
        may_end: _Marks,
        reduces: bool,
    ) -> None: ...

def rows_text(rows: Rows, first: int, stop: int) -> bytes: ...
def scan_rows(text: _Marks) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None: ...
def heights(
    routes: Rows,
    trees: Rows,
    nodes: int,
    reduces: bool,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]: ...
def sends(routes: Rows, trees: Rows, is_compute: _Marks) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def write_images(rows: Rows, maps: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> None: ...
def add_units(trees: Rows, units: npt.NDArray[np.int64], carried: npt.NDArray[np.int64]) -> None: ...
def examine(
    is_compute: _Marks,
    takes_part: _Marks,
    may_end: _Marks,
    sources: npt.NDArray[np.int32],
    targets: npt.NDArray[np.int32],
    routes: Rows,
    phases: Sequence[Phase],
) -> npt.NDArray[np.int64] | None: ...
