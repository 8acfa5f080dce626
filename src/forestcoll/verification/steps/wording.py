"""How messages about step schedules name steps, transfers and parts: on one line, and never too long to read."""

import numpy as np

from forestcoll.schedule.steps.value import Transfers
from forestcoll.verification import wording
from forestcoll.verification.steps.case import StepCase
from forestcoll.verification.wording import number


def node(case: StepCase, place: int) -> str:
    """Return the id of node number `place`, quoted as Python does: no line break survives."""
    return wording.node(case.schedule.topology, place)


def place(case: StepCase, sent: Transfers, transfer: int) -> str:
    """Return where in the file a transfer stands: the steps of all phases are counted on."""
    before = 0
    for phase in case.schedule.phases:
        if phase.transfers is sent:
            break
        before += phase.transfers.steps
    step = int(np.searchsorted(sent.starts, transfer, side="right")) - 1
    return f"steps[{before + step}][{transfer - int(sent.starts[step])}]"


def part(sent: Transfers, transfer: int) -> str:
    """Return the part that a transfer sends."""
    low, high = (sent.points[int(column[transfer])] for column in (sent.lows, sent.highs))
    return f"[{number(low)}, {number(high)})"
