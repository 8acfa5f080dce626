# The large arrays of schedules and programs: read, written and verified. Only `schedule`, `verification` and
# `interpreter` import this module.

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
def scan_rows(text: _Marks, least: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None: ...
def heights(
    routes: Rows,
    trees: Rows,
    nodes: int,
    reduces: bool,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]: ...
def sends(routes: Rows, trees: Rows, is_compute: _Marks) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def write_images(rows: Rows, maps: _Numbers, out: _Numbers) -> None: ...
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

class Program:
    def __init__(
        self,
        words: npt.NDArray[np.int32],
        block_ranks: npt.NDArray[np.int32],
        block_lengths: npt.NDArray[np.int32],
        sizes: npt.NDArray[np.int32],
        channels: npt.NDArray[np.int32],
        slots: int,
        slot_chunks: int,
    ) -> None: ...
    def is_well_formed(self) -> bool: ...
    def is_proven(
        self,
        reduces: bool,
        in_place: bool,
        starts: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
        first_sets: npt.NDArray[np.int32],
        first_chunks: npt.NDArray[np.int32],
        last_cells: npt.NDArray[np.int64],
        last_sets: npt.NDArray[np.int32],
        last_chunks: npt.NDArray[np.int32],
    ) -> bool: ...
