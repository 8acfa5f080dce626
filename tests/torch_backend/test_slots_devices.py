"""What slots ask of CUDA, recorded by a stand-in; and when collectives are captured as graphs."""

import re
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")

import torch
import torch.distributed as dist
from replaying import Replaying

import forestcoll.torch
from forestcoll import Collective, CommunicationError
from forestcoll.measurement.bench.cuda import CudaRequest, measure_ways
from forestcoll.runtime import ReduceOp
from forestcoll.torch.calls.accelerators import CUDA, XPU, Accelerator, accelerator_here
from forestcoll.torch.calls.call import Call
from forestcoll.torch.slots import graphs
from forestcoll.torch.slots.choice import why_not
from forestcoll.torch.slots.graphs import Graphs
from forestcoll.torch.slots.movement import Movement
from forestcoll.torch.slots.streams import Gpu, Host, device_of
from forestcoll.torch.slots.work import SlotWork


class RecordedCuda:
    """Stands in for `torch.cuda`: writes down the calls, in their order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.present = SimpleNamespace(wait_event=lambda event: self.calls.append(f"present waits for {event.name}"))

    def note(self, text: str) -> None:
        self.calls.append(text)

    def Stream(self) -> Any:  # noqa: N802 (torch's name)
        event = SimpleNamespace(name="the end", query=lambda: False)

        def record() -> Any:
            self.note("own records the end")
            return event

        return SimpleNamespace(
            device="cuda:0",
            wait_stream=lambda _: self.note("own waits for present"),
            record_event=record,
            synchronize=lambda: self.note("synchronize own"),
        )

    def current_stream(self) -> Any:
        return self.present

    def current_device(self) -> int:
        return 0

    @contextmanager
    def stream(self, _: Any) -> Iterator[None]:
        self.note("begin own")
        yield
        self.note("end own")

    def is_current_stream_capturing(self) -> bool:
        return True

    def CUDAGraph(self) -> Any:  # noqa: N802
        return SimpleNamespace(replay=lambda: self.note("replay"))

    @contextmanager
    def graph(self, _: Any, *, stream: Any, capture_error_mode: str) -> Iterator[None]:
        assert stream is not None
        self.note(f"begin capture, {capture_error_mode}")
        yield
        self.note("end capture")


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> RecordedCuda:
    found = RecordedCuda()
    monkeypatch.setattr(torch, "cuda", found)
    return found


def test_all_work_is_on_an_own_stream_between_two_events(recorded: RecordedCuda) -> None:
    tensor: Any = SimpleNamespace(record_stream=lambda _: recorded.note("memory is kept for own"))
    finished = Gpu().issue([tensor], lambda: recorded.note("slots"))
    work = SlotWork(finished, [])
    assert not work.is_completed()
    assert work.wait()
    assert recorded.calls == [
        "own waits for present",
        "begin own",
        "slots",
        "own records the end",
        "end own",
        "memory is kept for own",
        "present waits for the end",
    ]


def test_a_future_is_set_on_the_own_stream(recorded: RecordedCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    def future(devices: list[Any]) -> Any:
        assert len(devices) == 1
        return SimpleNamespace(set_result=lambda outputs: recorded.note(f"set {outputs}"))

    monkeypatch.setattr(torch.futures, "Future", future)
    work = SlotWork(Gpu().issue([], lambda: None), [1])
    recorded.calls.clear()
    work.get_future()
    work.synchronize()
    assert recorded.calls == ["begin own", "set [1]", "end own", "present waits for the end"]
    assert work.result() == [1]
    assert not work.is_success()


def test_a_new_group_makes_its_communicator_by_an_allreduce(
    recorded: RecordedCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "zeros", lambda count, device: f"{count} on {device}")

    def allreduce(tensors: list[Any]) -> Any:
        recorded.note(f"allreduce of {tensors[0]}")
        return SimpleNamespace(wait=lambda: recorded.note("wait"))

    group: Any = SimpleNamespace(allreduce=allreduce)
    Gpu().open(group)
    assert recorded.calls == ["allreduce of 1 on cuda", "wait"]
    assert Gpu().is_captured()
    assert isinstance(device_of("cuda"), Gpu)


def test_gpus_of_intel_have_the_same_slots_without_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = RecordedCuda()
    monkeypatch.setattr(torch, "xpu", found)
    monkeypatch.setattr(torch, "zeros", lambda count, device: f"{count} on {device}")
    device = device_of("xpu")
    device.issue([], lambda: found.note("slots")).wait()
    assert "slots" in found.calls
    assert found.calls[-1] == "present waits for the end"
    assert not device.is_captured()
    assert Graphs(device).fault == "the device has no graphs"
    group: Any = SimpleNamespace(
        allreduce=lambda tensors: SimpleNamespace(wait=lambda: found.note(tensors[0])),
        _start_coalescing=lambda each: found.note(f"begin on {each}"),
        _end_coalescing=lambda each: found.note(f"end on {each}"),
    )
    device.open(group)
    device.together(group, list)
    assert found.calls[-3:] == ["1 on xpu", "begin on xpu:0", "end on xpu:0"]


def test_the_library_is_that_of_the_gpus_that_torch_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(**here: bool) -> Accelerator | None:
        for device, is_here in here.items():
            monkeypatch.setattr(torch, device, SimpleNamespace(is_available=lambda is_here=is_here: is_here))
        return accelerator_here()

    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    monkeypatch.setattr(dist, "is_xccl_available", lambda: True, raising=False)
    assert found(cuda=False, xpu=False) is None
    assert found(cuda=False, xpu=True) is XPU
    assert found(cuda=True, xpu=False) is CUDA
    monkeypatch.setattr(dist, "is_nccl_available", lambda: False)
    assert accelerator_here() is None
    assert (CUDA.title, XPU.title) == ("NCCL", "XCCL")
    monkeypatch.setattr(torch.version, "hip", "7.0")
    assert (CUDA.title, XPU.title) == ("RCCL", "XCCL")

    class Xccl(SimpleNamespace):
        class Options:
            _timeout = timedelta(0)

        def __init__(self, _: dist.Store, rank: int, size: int, options: Any) -> None:
            super().__init__(rank=rank, size=size, timeout=options._timeout)

    monkeypatch.setattr(dist, "ProcessGroupXCCL", Xccl, raising=False)
    made = XPU.backend(dist.HashStore(), 1, 4, timedelta(seconds=7))
    assert (made.rank, made.size, made.timeout) == (1, 4, timedelta(seconds=7))
    assert XPU.kind == dist.ProcessGroup.BackendType.XCCL


def test_only_one_file_of_the_backend_names_what_a_vendor_has() -> None:
    folder = Path(forestcoll.torch.__file__).parent
    for path in folder.rglob("*.py"):
        named = re.findall(
            r"torch\.(?:cuda|xpu)\b|ProcessGroup(?:NCCL|XCCL)|BackendType\.(?!GLOO)\w+", path.read_text()
        )
        assert not named or path.name == "accelerators.py", (path, named)


def test_types_that_nccl_does_not_have_are_left_to_it() -> None:
    tensor: Any = SimpleNamespace(
        device=torch.device("cuda"),
        dtype=torch.int16,
        layout=torch.strided,
        is_quantized=False,
        is_conj=lambda: False,
        is_neg=lambda: False,
    )
    call = Call("broadcast", Collective.BROADCAST, [tensor], 8, root=0)
    assert why_not(call, "cuda") == "NCCL has no elements of torch.int16"
    on_cpu = Call("broadcast", Collective.BROADCAST, [torch.zeros(1)], 4, root=0)
    assert why_not(on_cpu, "cuda") == "a tensor is on cpu"
    conjugated = Call("broadcast", Collective.BROADCAST, [torch.zeros(1, dtype=torch.complex64).conj()], 8, root=0)
    assert why_not(conjugated, "cpu") == "a tensor is not a plain dense one"


@pytest.mark.parametrize(
    ("op", "dtype", "reason"),
    [
        (dist.ReduceOp.AVG, torch.int32, "slots have no average of elements of torch.int32"),
        (dist.ReduceOp.SUM, torch.float8_e4m3fn, "slots do not add up elements of torch.float8_e4m3fn"),
        (dist.ReduceOp.BXOR, torch.int32, "slots do not have this reduction"),
        (dist.ReduceOp.MAX, torch.bfloat16, None),
    ],
)
def test_reductions_that_slots_do_not_have(op: Any, dtype: torch.dtype, reason: str | None) -> None:
    call = Call("all_reduce", Collective.ALLREDUCE, [torch.zeros(1, dtype=dtype)], 8, op=dist.ReduceOp(op))
    assert why_not(call, "cpu") == reason


def test_messages_of_a_slot_are_one_group_of_nccl(recorded: RecordedCuda) -> None:
    group: Any = SimpleNamespace(
        _start_coalescing=lambda device: recorded.note(f"start {device}"),
        _end_coalescing=lambda device: f"the work on {device}",
    )

    def start() -> list[Any]:
        recorded.note("messages")
        return []

    assert Gpu().together(group, start) == ["the work on cuda:0"]
    assert recorded.calls == ["start cuda:0", "messages"]


def test_a_capture_is_on_the_own_stream_and_lets_other_threads_go_on(recorded: RecordedCuda) -> None:
    device = Gpu()
    replay = device.capture(lambda: recorded.note("slots"))
    replay()
    device.finish()
    assert recorded.calls == ["begin capture, thread_local", "slots", "end capture", "replay", "synchronize own"]


def test_bench_says_in_one_line_why_nccl_refuses_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise dist.DistBackendError("NCCL error in: NCCLUtils.cpp:93\nLast error:\nDuplicate GPU detected : rank 1\n")

    monkeypatch.setenv("RANK", "0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)
    monkeypatch.setattr(dist, "init_process_group", refuse)
    with pytest.raises(CommunicationError, match=r"^bench: NCCL: Duplicate GPU detected : rank 1$"):
        measure_ways(CudaRequest("ring:nodes=2", [1024]), lambda _: None)


def doubled(movement: Movement) -> None:
    """Stands in for slots."""
    movement.data.copy_((movement.data if movement.source is None else movement.source)[: movement.data.numel()] * 2)


def moved(found: Graphs, count: int = 4, collective: Collective = Collective.ALLREDUCE) -> list[float]:
    data = torch.arange(float(count))
    source = data.clone() if collective is Collective.REDUCE_SCATTER else None
    movement = Movement(collective, data, source, ReduceOp.SUM, None, None, 1)
    found.run("slots", movement, doubled)
    assert source is None or torch.equal(source, torch.arange(float(count)))
    return list(data.tolist())


@pytest.mark.parametrize("collective", [Collective.ALLREDUCE, Collective.REDUCE_SCATTER])
def test_a_graph_works_on_memory_of_its_own_and_callers_get_the_result(collective: Collective) -> None:
    device = Replaying()
    found = Graphs(device)
    for _ in range(4):
        assert moved(found, collective=collective) == [0, 2, 4, 6]
    assert device.log == ["capture", "replay", "replay", "replay"]


def test_a_reduce_leaves_the_input_of_other_ranks() -> None:
    device, data = Replaying(), torch.ones(3)
    found = Graphs(device)
    for _ in range(3):
        found.run("slots", Movement(Collective.REDUCE, data, data, ReduceOp.SUM, None, 1, 1), lambda _: None)
    assert data.tolist() == [1, 1, 1]
    assert device.log == ["capture", "replay", "replay"]


def test_graphs_that_were_not_used_for_the_longest_time_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MOST_GRAPHS", 2)
    device = Replaying()
    found = Graphs(device)
    for count in (1, 1, 2, 2, 1, 3, 3):  # 2 is dropped
        moved(found, count)
    assert device.log.count("capture") == 3
    moved(found, 1)
    assert device.log.count("capture") == 3
    moved(found, 2)
    assert device.log.count("capture") == 4


@pytest.mark.parametrize("abort", [False, True])
def test_graphs_are_gone_before_a_group_is_left(*, abort: bool) -> None:
    """NCCL waits for them when a communicator is destroyed; on one H200 it hung."""
    found = Graphs(Replaying())
    for _ in range(2):
        moved(found)
    replays = [weakref.ref(each.replay) for each in found._kept.values()]
    found.close(abort=abort)
    assert [each() for each in replays] == [None]


def test_large_data_and_calls_in_a_capture_of_the_caller_have_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MOST_BYTES", 16)
    device = Replaying()
    found = Graphs(device)
    for _ in range(3):
        assert moved(found, 5) == [0, 2, 4, 6, 8]
    device.is_in_capture = True
    for _ in range(3):
        assert moved(found) == [0, 2, 4, 6]
    assert device.log == []


def test_without_graphs_collectives_run_one_by_one_and_the_reason_is_known(caplog: pytest.LogCaptureFixture) -> None:
    device = Replaying()
    device.error = "not permitted\nmore"
    found = Graphs(device)
    for _ in range(3):
        assert moved(found) == [0, 2, 4, 6]
    assert found.fault == "a capture failed: not permitted"
    assert caplog.text.count("collectives on CUDA tensors run without graphs: a capture failed: not permitted") == 1
    assert Graphs(Host()).fault == "the device has no graphs"
