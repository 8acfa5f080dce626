"""Lists of faults as files in `tests/golden/faults/`: the rule and the whole message of each, one line."""

from collections.abc import Iterable
from pathlib import Path

from forestcoll.programs.model import ProgramFault
from forestcoll.verification import Fault

FOLDER = Path(__file__).parents[1] / "golden" / "faults"


def check(name: str, found: Iterable[tuple[str, Fault | ProgramFault | None]]) -> None:
    """Check that faults, each with the name of its case, are those in a file. A new list is written, and fails."""
    path = FOLDER / f"{name}.txt"
    lines = [f"{case}: {_shown(fault)}" for case, fault in found]
    assert not any("\n" in line for line in lines)
    text = "".join(f"{line}\n" for line in lines)
    if not path.exists():
        path.write_text(text)
    else:
        assert text == path.read_text()
        return
    raise AssertionError(f"{path} is new: check it")


def _shown(fault: Fault | ProgramFault | None) -> str:
    if fault is None:
        return "no fault"
    return f"[{fault.rule}] {fault if isinstance(fault, ProgramFault) else fault.message}"
