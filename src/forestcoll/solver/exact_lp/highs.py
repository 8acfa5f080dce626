"""The settings of HiGHS that all programs share: no output, and one thread.

HiGHS runs on one thread, so that the same program has the same solution. Its presolve rule for duplicate columns is
off: it prints a line to standard output, past all settings of the log, where a command prints its result.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import highspy

_PARALLEL_ROWS_AND_COLUMNS = 1 << 13
"""The bit of the rule in HiGHS's option `presolve_rule_off`."""


def quiet_highs() -> "highspy.Highs":
    """Return a solver without a program."""
    import highspy  # here, as most runs of the command line need no linear program

    highs = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no type annotations
    highs.setOptionValue("log_to_console", False)  # noqa: FBT003 (HiGHS takes no keywords)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("parallel", "off")
    highs.setOptionValue("presolve_rule_off", _PARALLEL_ROWS_AND_COLUMNS)
    return highs
