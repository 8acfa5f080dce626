import json
from pathlib import Path

from cli_run import edge, process, write_network

LINKS = [(0, 1, 8), (1, 2, 4), (2, 3, 6), (3, 4, 7), (4, 5, 8), (5, 6, 4), (6, 0, 9), (6, 1, 1), (2, 0, 6), (0, 4, 2), (4, 1, 9), (2, 4, 2), (5, 4, 9), (4, 5, 3), (6, 4, 4)]
"""A network on which HiGHS prints a line to standard output if its presolve rule for duplicate columns is on."""


def test_libraries_print_nothing_to_standard_output(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge(*link) for link in LINKS], range(4), [4, 5, 6], directed=True)
    run = process("optimum", path, "--collective", "reduce-scatter", "--json")
    assert json.loads(run.out)["algbw"] == "16/3"
    assert run.err == ""
