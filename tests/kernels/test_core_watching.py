"""Long work reports its progress, and can be stopped by the progress callback and by Ctrl-C."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from flow_problems import Scaled, scaled

from forestcoll.kernels import Core, cores
from forestcoll.topology.registry import build_topology

LARGE = "dgx-a100:boxes=64"


class StoppedError(Exception):
    pass


FLAT = scaled(build_topology("ring:nodes=5"))
"""A network without switches, which steps need."""


def stages(core: Core, network: Scaled, progress: Callable[[int, int], None]) -> list[Any]:
    """Run every stage that takes a progress callback."""
    problem = network.on(core)
    core.bottleneck(problem, progress)
    core.supply_reaches_all(problem, network.supply, progress)
    logical = core.remove_switches(problem, network.supply, progress)
    batches, _ = core.pack_trees(problem, logical, network.supply, progress)
    core.grow_trees(problem, network.supply, progress)
    flat = FLAT.on(core)
    core.broadcast_breadth_first(flat, 1, [0] * len(FLAT.capacities), 0, (), progress)
    _, _, lengths = core.spread_all_to_all(flat, 2, 0.0, progress)
    core.distance_sum(flat, lengths, progress)
    return list(core.route_trees(problem, logical, batches, progress))


def test_the_reference_reports_each_part() -> None:
    heard: list[tuple[int, int]] = []
    network = scaled(build_topology("dgx-a100:boxes=2,gpus=2"))
    stages(cores()["reference"], network, lambda done, total: heard.append((done, total)))
    compute, switches = len(network.terminals), network.nodes - len(network.terminals)
    for total in (compute, switches, len(FLAT.terminals)):
        assert (total, total) in heard
    assert all(1 <= done <= total for done, total in heard)


@pytest.mark.parametrize(("name", "spec"), [("narrow", LARGE), ("wide", LARGE), ("reference", "ring:nodes=4")])
def test_work_reports_progress_and_the_callback_can_stop_it(name: str, spec: str) -> None:
    heard: list[tuple[int, int]] = []

    def listen(done: int, total: int) -> None:
        heard.append((done, total))
        if len(heard) == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        stages(cores()[name], scaled(build_topology(spec)), listen)
    assert len(heard) == 3
    assert all(0 <= done <= total for done, total in heard)


def test_ctrl_c_stops_native_work_at_once() -> None:
    core, network = cores()["narrow"], scaled(build_topology(LARGE))
    problem = network.on(core)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.process_time())  # not the clock: other programs may run
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the number of repetitions does not matter)
        timer.start()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            core.remove_switches(problem, network.supply)
    assert time.process_time() - sent[0] < 1
