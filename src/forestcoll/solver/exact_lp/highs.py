"""The settings of HiGHS that all programs share: no output, and one thread.

HiGHS runs on one thread, so that the same program has the same solution. Its presolve rule for duplicate columns is
off: it prints a line to standard output, past all settings of the log, where a command prints its result.
"""

import ctypes
import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import highspy

_PARALLEL_ROWS_AND_COLUMNS = 1 << 13
"""The bit of the rule in HiGHS's option `presolve_rule_off`."""


def quiet_highs() -> "highspy.Highs":
    """Return a solver without a program."""
    import highspy  # here, as most runs of the command line need no linear program

    _take_greeting()
    highs = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no type annotations
    highs.setOptionValue("log_to_console", False)  # noqa: FBT003 (HiGHS takes no keywords)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("parallel", "off")
    highs.setOptionValue("presolve_rule_off", _PARALLEL_ROWS_AND_COLUMNS)
    return highs


@cache
def _take_greeting() -> None:
    """Make a first solver while standard output is the null device: since 1.16, HiGHS greets there once a process."""
    import highspy

    try:
        before = os.dup(1)
    except OSError:
        return  # it is closed
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        highspy.Highs()  # type: ignore[no-untyped-call]
        ctypes.CDLL(None).fflush(None)
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(nowhere)
