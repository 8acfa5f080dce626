"""A rank that sends what no rank sends: the others fail with a message that names it, and nothing crashes."""

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from players import LIMIT, Players, outcome

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import member
from forestcoll.runtime.connecting import Connected
from forestcoll.runtime.engine.trees import Hop

if TYPE_CHECKING:
    import socket

OPEN, DATA, CREDIT, UNKNOWN = 1, 2, 3, 99


def frame(kind: int, *, payload: bytes = b"", operation: int = 0, edge: int = 0, value: int = 0) -> bytes:
    """Return a frame as `native/runtime/frame.h` describes it."""
    return struct.pack("<B3xIQIIQ", kind, len(payload), operation, edge, 0, value) + payload


WRONG = {
    "unknown": ("controls", frame(UNKNOWN), "sent a frame of an unknown kind"),
    "short announcement": ("controls", frame(OPEN, payload=b"short"), "sent a malformed frame"),
    "long announcement": ("controls", frame(OPEN, payload=bytes(1000)), "sent a frame that is too long"),
    "short opening": ("senders", frame(OPEN, payload=b"short"), "sent a frame that does not fit its operation"),
    "other operation": ("senders", frame(DATA, payload=b"data", operation=7), "sent a frame that does not fit its op"),
    "other edge": ("senders", frame(DATA, payload=b"data", edge=999), "sent a frame that does not fit its operation"),
    "data for credit": ("receivers", frame(DATA), "sent a frame that does not belong on this connection"),
    "other credit": ("receivers", frame(CREDIT, edge=999, value=1), "sent a credit for an edge that is not there"),
}
"""For each kind of fault: the connections of rank 1, what it sends over one of them, and what the others report."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_frame_fails_the_group(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connection, sent, message = WRONG[name]
    kept: dict[str, socket.socket] = {}
    usual = member.Member._take_over

    def watched(self: member.Member, connected: Connected, lanes: Sequence[Hop]) -> None:
        if self.rank == 1:
            sockets: dict[int, socket.socket] = getattr(connected, connection)
            kept[connection] = next(iter(sockets.values())).dup()
        usual(self, connected, lanes)

    monkeypatch.setattr(member.Member, "_take_over", watched)
    with Players([generate("complete:nodes=2", "allreduce")]) as players:
        pending = players.groups[0].allreduce(np.ones(10))
        with kept[connection] as broken:
            broken.sendall(sent)
        failed: Any = outcome(lambda: pending.wait(LIMIT))
        assert isinstance(failed, CommunicationError)
        assert f"rank 1 {message}" in str(failed)
