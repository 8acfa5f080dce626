"""Processes and transfers at the same time, of which tests make plain simulations.

A process is a generator that yields what it waits for: a time, or a condition. After each event, every process whose
wait is over goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.program.paths import Multipath

Wait = float | Callable[[], bool]
Process = Iterator[Wait]


class Sharing:
    """The rates of transfers that share the links by max-min fairness; those of a flow have the same rate."""

    def __init__(self, multipaths: Sequence[Multipath], bandwidths: FloatArray) -> None:
        """Take the links of each flow, and the bandwidth of each link in bytes per second."""
        self._bandwidths = bandwidths
        self._links = np.array([link for each in multipaths for link in each.links], dtype=np.int64)
        self._weights = np.array([weight for each in multipaths for weight in each.weights])
        self._flows = np.repeat(np.arange(len(multipaths)), [len(each.links) for each in multipaths])
        self._known: dict[bytes, FloatArray] = {}

    def rates(self, counts: FloatArray) -> FloatArray:
        """Return the rate of one transfer of each flow in bytes per second; `counts` are the active transfers by flow.

        The rate of a flow without active transfers is 0.
        """
        key = counts.tobytes()
        if key not in self._known:
            self._known[key] = self._filled(counts)
        return self._known[key]

    def _filled(self, counts: FloatArray) -> FloatArray:
        """Raise all rates together; when a link is full, the rates of the transfers that cross it are final."""
        rates, growing, left = np.zeros(len(counts)), counts > 0, self._bandwidths.copy()
        while growing.any():
            of_growing = growing[self._flows]
            links, flows = self._links[of_growing], self._flows[of_growing]
            loads = np.bincount(links, self._weights[of_growing] * counts[flows], len(left))
            used = loads > 0
            step = (left[used] / loads[used]).min()
            rates[growing] += step
            left -= loads * step
            full = used & (left <= self._bandwidths * 1e-9)
            growing[flows[full[links]]] = False
        return rates


@dataclass(slots=True, eq=False)
class _Transfer:
    """An active transfer: its flow, its size, and what is left of it."""

    flow: int
    size: float
    left: float


@dataclass
class Clock:
    """The time, the processes that wait, and the active transfers."""

    sharing: Sharing
    flows: int
    now: float = 0.0
    _waits: dict[Process, Wait] = field(default_factory=dict)
    _active: list[_Transfer] = field(default_factory=list)

    def start(self, process: Process) -> None:
        self._waits[process] = self.now

    def transfer(self, flow: int, size: float) -> Process:
        """Transfer `size` bytes."""
        transfer = _Transfer(flow, size, size)
        self._active.append(transfer)
        yield lambda: transfer not in self._active

    def run(self) -> None:
        """Let time pass from one event to the next until there are none left."""
        while True:
            while over := [each for each, wait in self._waits.items() if self._is_over(wait)]:
                for process in over:
                    self._go_on(process)
            times = [wait for wait in self._waits.values() if isinstance(wait, float)]
            if not times and not self._active:
                break
            self._pass(min(times, default=float("inf")))

    def _is_over(self, wait: Wait) -> bool:
        return wait <= self.now if isinstance(wait, float) else wait()

    def _go_on(self, process: Process) -> None:
        wait = next(process, None)
        if wait is None:
            del self._waits[process]
        else:
            self._waits[process] = wait

    def _pass(self, due: float) -> None:
        """Let time pass until `due`, or until the first transfer ends."""
        flows = [each.flow for each in self._active]
        rates = self.sharing.rates(np.bincount(flows, minlength=self.flows).astype(np.float64)).tolist()
        passed = min([due - self.now, *(each.left / rates[each.flow] for each in self._active)])
        self.now = due if passed == due - self.now else self.now + passed
        for each in self._active:
            each.left -= rates[each.flow] * passed
        self._active = [each for each in self._active if each.left > each.size * 1e-9]
