"""The text of steps, transfers and parts in messages about step schedules: one line, of limited length."""

from itertools import takewhile

import numpy as np

from forestcoll.schedule.steps.value import Transfers
from forestcoll.verification import wording
from forestcoll.verification.steps.context import StepContext
from forestcoll.verification.wording import number


def node(context: StepContext, place: int) -> str:
    """Return the id of node number `place`, quoted as in Python, so that it has no line breaks."""
    return wording.node(context.schedule.topology, place)


def place(context: StepContext, sent: Transfers, transfer: int) -> str:
    """Return the place of a transfer in the file, where the steps of all phases are numbered together."""
    earlier = takewhile(lambda phase: phase.transfers is not sent, context.schedule.phases)
    before = sum(phase.transfers.steps for phase in earlier)
    step = int(np.searchsorted(sent.starts, transfer, side="right")) - 1
    return f"steps[{before + step}][{transfer - int(sent.starts[step])}]"


def part(sent: Transfers, transfer: int) -> str:
    """Return the part that a transfer sends."""
    low, high = (sent.points[int(column[transfer])] for column in (sent.lows, sent.highs))
    return f"[{number(low)}, {number(high)})"
