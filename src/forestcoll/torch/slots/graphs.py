"""Collectives captured as CUDA graphs: the host issues a whole collective at once, and not each message.

NCCL wants an operation captured on all of its ranks or on none, and all ranks to launch graphs of the same capture. The
tensors of a caller do not come back to the same addresses at the same calls of all ranks. So a graph is found by what
all ranks know, the collective with its sizes, and works on memory of its own: the input is copied there, and the result
from there. The first call of a kind is not captured, because it may open connections; the second one is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from forestcoll.base.errors import first_line
from forestcoll.demand.collective import Collective
from forestcoll.torch.calls.paths import log
from forestcoll.torch.slots.movement import Movement
from forestcoll.torch.slots.streams import Device

MOST_BYTES = 2**28
"""The greatest data of a graph. The time of larger data hides that of the host."""

MOST_GRAPHS, _MOST_SEEN = 16, 1024

Move = Callable[[Movement], None]


@dataclass(frozen=True, slots=True)
class _Captured:
    """A graph, and the memory that it works on."""

    replay: Callable[[], None]
    movement: Movement

    def run(self, wanted: Movement) -> None:
        own = self.movement
        if own.source is not None and wanted.source is not None:
            own.source.copy_(wanted.source)
        else:
            own.data.copy_(wanted.data)
        self.replay()
        if wanted.collective is not Collective.REDUCE or wanted.source is None:
            wanted.data.copy_(own.data)


class Graphs:
    """The graphs of a group; those that were not used for the longest time are dropped.

    Args:
        device: captures them.
    """

    def __init__(self, device: Device) -> None:
        self._device, self.fault = device, "" if device.can_capture else "the device has no graphs"
        self._seen: set[tuple[object, ...]] = set()
        self._kept: dict[tuple[object, ...], _Captured] = {}

    def run(self, path: str, movement: Movement, move: Move) -> None:
        """Run a collective: by its graph if there is one or it is called for the second time, else by `move`.

        Args:
            path: the way that it takes.
            movement: the collective on the memory of the caller.
            move: runs it.
        """
        captured = self._captured((path, *movement.key), movement, move)
        if captured is None:
            move(movement)
        else:
            captured.run(movement)

    def close(self, *, abort: bool = False) -> None:
        """Drop all graphs, which end first unless `abort`: NCCL leaves a group only when no graph uses it."""
        if self._kept and not abort:
            self._device.finish()
        self._kept.clear()

    def _captured(self, key: tuple[object, ...], movement: Movement, move: Move) -> _Captured | None:
        if self.fault or movement.bytes > MOST_BYTES or self._device.is_captured():
            return None
        if key not in self._seen:
            if len(self._seen) == _MOST_SEEN:
                self._seen.clear()  # on all ranks at the same call
            self._seen.add(key)
            return None
        captured = self._kept.pop(key, None) or self._capture(movement, move)
        if captured is not None:
            self._kept[key] = captured  # the last one used is the last one
        if len(self._kept) > MOST_GRAPHS:
            self._device.finish()
            del self._kept[next(iter(self._kept))]
        return captured

    def _capture(self, movement: Movement, move: Move) -> _Captured | None:
        source = None if movement.source is None else torch.empty_like(movement.source)
        own = replace(movement, data=torch.empty_like(movement.data), source=source)
        if movement.collective is Collective.REDUCE and source is not None:
            own = replace(own, data=source)
        try:
            return _Captured(self._device.capture(lambda: move(own)), own)
        except RuntimeError as error:
            self.fault = f"a capture failed: {first_line(error)}"
            log.warning("collectives on CUDA tensors run without graphs: %s", self.fault)
            return None
