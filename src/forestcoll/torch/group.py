"""The process group: collectives on CPU tensors by the engine, everything else by an inner group, and counted."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from forestcoll.base.errors import CommunicationError, ForestcollError
from forestcoll.demand.collective import Collective
from forestcoll.torch.calls import operations
from forestcoll.torch.calls.call import Call
from forestcoll.torch.calls.elements import Reduction, why_not_moved, why_not_reduced
from forestcoll.torch.calls.graphs import not_compiled
from forestcoll.torch.calls.inner import Inner, method
from forestcoll.torch.calls.operations import Carrier, EngineCarrier, Started, counts_of
from forestcoll.torch.calls.paths import ENGINE, PathCounter
from forestcoll.torch.calls.work import EngineWork, JoinedWork
from forestcoll.torch.schedules.engines import Engine, Engines
from forestcoll.torch.slots.choice import Slots
from forestcoll.torch.slots.work import SlotWork

_GRACE = 2.0
"""How many seconds to wait at most, when the group is left, until the others have received what this rank sent."""

_LITTLE_GRACE = 0.1
"""The same where nothing waits to be received, or the group has failed."""

Tensors = Sequence[torch.Tensor]


@not_compiled
class ForestcollProcessGroup(dist.ProcessGroup):
    """One rank's part in a group of torch. Methods are those of `torch.distributed.ProcessGroup`.

    Args:
        name: the name of the group.
        ranks: of each rank of the group its rank in the world.
        inner: a group for what the engine does not do.
    """

    def __init__(self, name: str, ranks: Sequence[int], inner: Inner) -> None:
        super().__init__(inner.group.rank(), inner.group.size())
        inner.serve(self)
        self.ranks, self.counter = tuple(ranks), PathCounter(name)
        self._name, self._inner, self._inner_names = name, inner.group, inner.names
        self._engines: Engines | None = None
        self._slots: Slots | None = None
        self._reason, self._failure, self._is_closed = "the group has no engine", "", False
        self._lock, self._hooks = RLock(), list[Callable[[], None]]()

    # The engines of the group.

    @property
    def engines(self) -> Engines | None:
        """What runs schedules; None if nothing does."""
        return self._engines

    @property
    def slots(self) -> Slots | None:
        """What moves CUDA tensors; None if NCCL has them."""
        return self._slots

    @property
    def name_in_torch(self) -> str:
        """The name that torch gave the group; `0` is the default group's."""
        return self._name

    def when_closed(self, hook: Callable[[], None]) -> None:
        """Call `hook` when the group is destroyed."""
        self._hooks.append(hook)

    def use(self, engines: Engines | None, reason: str = "", slots: Slots | None = None) -> None:
        """Run schedules by `engines` from now on; without any, `reason` says why. All ranks have called `finish`.

        `slots` choose the path of tensors on their type of device; without any, the inner group has them.
        """
        with self._lock:
            old, old_slots = self._engines, self._slots
            self._engines, self._reason, self._failure = engines, reason, ""
            self._slots = slots
        if old is not None:
            old.close(_LITTLE_GRACE)
        if old_slots is not None:
            old_slots.close()

    def finish(self) -> None:
        """Wait until all operations of the engine and of slots have ended, well or not."""
        if self._engines is not None:
            with suppress(CommunicationError):
                self._engines.finish()
        if self._slots is not None:
            self._slots.device.finish()

    def getBackendName(self) -> str:  # noqa: N802 (torch's name)
        """Return the name of the backend."""
        return "forestcoll"

    def shutdown(self) -> None:
        """Leave the group; operations that have not ended fail."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        self._leave(_LITTLE_GRACE if self._failure else _GRACE)
        self._inner.shutdown()

    def abort(self) -> None:
        """Leave the group at once."""
        with self._lock:
            self._failure = self._failure or "forestcoll: the group was aborted"
            self._is_closed = True
        self._leave(0.0)
        self._inner.abort()

    def _leave(self, grace: float) -> None:
        engines, self._engines = self._engines, None
        if engines is not None:
            engines.close(grace)
        slots, self._slots = self._slots, None
        if slots is not None:
            slots.close(abort=not grace)
        hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook()

    # Collectives with schedules.

    def allreduce(self, tensors: Any, opts: Any = None) -> dist.Work:
        """Combine the tensors of all ranks in place."""
        (tensor,), opts = _listed(tensors), _options(c10d.AllreduceOptions, opts)
        call = Call("all_reduce", Collective.ALLREDUCE, [tensor], _bytes(tensor), op=opts.reduceOp)
        return self._run(
            call,
            [tensor],
            lambda carrier, reduction: operations.allreduce(carrier, tensor, reduction),
            lambda: self._inner.allreduce([tensor], opts),
        )

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        """Combine each tensor of all ranks in place."""
        single = c10d.AllreduceOptions()
        single.reduceOp = _options(c10d.AllreduceCoalescedOptions, opts).reduceOp
        return self._joined([self.allreduce([tensor], single) for tensor in tensors], tensors)

    def broadcast(self, tensors: Any, opts: Any = None) -> dist.Work:
        """Copy the root's tensor to all ranks."""
        (tensor,), opts = _listed(tensors), _options(c10d.BroadcastOptions, opts)
        call = Call("broadcast", Collective.BROADCAST, [tensor], _bytes(tensor), root=opts.rootRank)
        return self._run(
            call,
            [tensor],
            lambda carrier, _: operations.broadcast(carrier, tensor, opts.rootRank),
            lambda: self._inner.broadcast([tensor], opts),
        )

    def reduce(self, tensors: Any, opts: Any = None) -> dist.Work:
        """Combine the tensors of all ranks on the root."""
        (tensor,), opts = _listed(tensors), _options(c10d.ReduceOptions, opts)
        call = Call("reduce", Collective.REDUCE, [tensor], _bytes(tensor), root=opts.rootRank, op=opts.reduceOp)
        return self._run(
            call,
            [tensor],
            lambda carrier, reduction: operations.reduce(carrier, tensor, opts.rootRank, reduction),
            lambda: self._inner.reduce([tensor], opts),
        )

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> dist.Work:
        """Gather the tensors of all ranks, each in its own output."""
        (source,), opts = _listed(inputs), _options(c10d.AllgatherOptions, opts)
        listed = outputs if isinstance(outputs[0], torch.Tensor) else outputs[0]
        self._check_list("all_gather", listed, source)
        counts = counts_of(listed)
        call = Call("all_gather", Collective.ALLGATHER, [*listed, source], _bytes(*listed), counts=counts)
        return self._run(
            call,
            listed,
            lambda carrier, _: operations.allgather_list(carrier, listed, source),
            lambda: self._inner.allgather([listed], [source], opts),
        )

    def all_gather_single(self, output: torch.Tensor, source: torch.Tensor, opts: Any = None) -> dist.Work:
        """Gather the tensors of all ranks in one."""
        opts = _options(c10d.AllgatherOptions, opts)
        self._check_whole("all_gather_into_tensor", output, source)
        call = Call("all_gather_into_tensor", Collective.ALLGATHER, [output, source], _bytes(output))
        return self._run(
            call,
            [output],
            lambda carrier, _: operations.allgather(carrier, output, source),
            lambda: method(self._inner, "all_gather_single")(output, source, opts),
        )

    _allgather_base = all_gather_single  # torch calls it by both names

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> dist.Work:
        """Gather each tensor of all ranks in one."""
        pairs = zip(outputs, inputs, strict=True)
        return self._joined([self.all_gather_single(output, source, opts) for output, source in pairs], outputs)

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather_coalesced(self, output_lists: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> dist.Work:
        """Gather each tensor of all ranks, each in its own output; `output_lists` has a list for each rank."""
        by_input = list(zip(*output_lists, strict=True))
        works = [
            self.allgather([list(outputs)], [source], opts) for outputs, source in zip(by_input, inputs, strict=True)
        ]
        return self._joined(works, [each for outputs in output_lists for each in outputs])

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> dist.Work:
        """Combine the lists of all ranks; each rank gets its tensor."""
        (output,), opts = _listed(outputs), _options(c10d.ReduceScatterOptions, opts)
        listed = inputs if isinstance(inputs[0], torch.Tensor) else inputs[0]
        self._check_list("reduce_scatter", listed, output)
        tensors, counts = [*listed, output], counts_of(listed)
        call = Call(
            "reduce_scatter", Collective.REDUCE_SCATTER, tensors, _bytes(*listed), op=opts.reduceOp, counts=counts
        )
        return self._run(
            call,
            [output],
            lambda carrier, reduction: operations.reduce_scatter_list(carrier, output, listed, reduction),
            lambda: self._inner.reduce_scatter([output], [listed], opts),
        )

    def reduce_scatter_single(self, output: torch.Tensor, source: torch.Tensor, opts: Any = None) -> dist.Work:
        """Combine the tensors of all ranks and leave each rank with its part."""
        opts = _options(c10d.ReduceScatterOptions, opts)
        self._check_whole("reduce_scatter_tensor", source, output)
        call = Call(
            "reduce_scatter_tensor", Collective.REDUCE_SCATTER, [output, source], _bytes(source), op=opts.reduceOp
        )
        return self._run(
            call,
            [output],
            lambda carrier, reduction: operations.reduce_scatter(carrier, output, source, reduction),
            lambda: method(self._inner, "reduce_scatter_single")(output, source, opts),
        )

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> dist.Work:
        """Combine each tensor of all ranks and leave each rank with its part."""
        pairs = zip(outputs, inputs, strict=True)
        return self._joined([self.reduce_scatter_single(output, source, opts) for output, source in pairs], outputs)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def all_to_all_single(
        self,
        output: torch.Tensor,
        source: torch.Tensor,
        output_sizes: Sequence[int],
        input_sizes: Sequence[int],
        opts: Any = None,
    ) -> dist.Work:
        """Exchange parts of one tensor between all ranks. With sizes, the inner group does it.

        A rank that gives sizes knows only its own, so it cannot know whether all parts are equal.
        """
        name, rest = "all_to_all_single", () if opts is None else (opts,)

        def inner(*_: object) -> dist.Work:
            exchange = method(self._inner, "all_to_all_single")
            return exchange(output, source, list(output_sizes), list(input_sizes), *rest)

        if output_sizes or input_sizes:
            return self._without(name, source, None, inner, "sizes are given, which other ranks do not know")
        self._check_parts(name, output, source)
        call = Call(name, Collective.ALL_TO_ALL, [output, source], _bytes(source))
        return self._run(call, [output], lambda carrier, _: operations.all_to_all(carrier, output, source), inner)

    alltoall_base = all_to_all_single

    def barrier(self, opts: Any = None) -> dist.Work:
        """Wait for all ranks, by an allreduce of one element."""
        opts = _options(c10d.BarrierOptions, opts)
        device = opts.device if opts.device is not None else torch.device("cpu")
        if device.type != "cpu" or opts.device_ids:
            reason = f"the barrier is for {device.type}"
            return self._other("barrier", reason, lambda: self._inner.barrier(opts), [], 0)
        token = torch.zeros(1, dtype=torch.int32)
        call = Call("barrier", Collective.ALLREDUCE, [token], _bytes(token), op=dist.ReduceOp(dist.ReduceOp.SUM))
        return self._run(
            call,
            [token],
            lambda carrier, reduction: operations.allreduce(carrier, token, reduction),
            lambda: self._inner.barrier(opts),
        )

    # Operations without schedules.

    def gather(self, outputs: Any, inputs: Any, opts: Any = None) -> dist.Work:
        """Gather tensors on the root, by the inner group."""
        return self._without("gather", inputs, opts, lambda *rest: self._inner.gather(outputs, inputs, *rest))

    def scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> dist.Work:
        """Scatter the root's tensors, by the inner group."""
        return self._without("scatter", outputs, opts, lambda *rest: self._inner.scatter(outputs, inputs, *rest))

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> dist.Work:
        """Exchange tensors between all ranks, by the inner group: a rank knows only the sizes of its own tensors."""
        reason = "the sizes of other ranks may differ; use all_to_all_single without sizes"
        return self._without(
            "all_to_all", inputs, opts, lambda *rest: self._inner.alltoall(outputs, inputs, *rest), reason
        )

    def send(self, tensors: Tensors, target: int, tag: int) -> dist.Work:
        """Send a tensor to one rank, by the inner group."""
        return self._without("send", tensors, None, lambda: self._inner.send(tensors, target, tag))

    def recv(self, tensors: Tensors, source: int, tag: int) -> dist.Work:
        """Receive a tensor from one rank, by the inner group."""
        return self._without("recv", tensors, None, lambda: self._inner.recv(tensors, source, tag))

    def recv_anysource(self, tensors: Tensors, tag: int) -> dist.Work:
        """Receive a tensor from any rank, by the inner group."""
        return self._without("recv", tensors, None, lambda: self._inner.recv_anysource(tensors, tag))

    # Which path an operation takes.

    def _run(
        self,
        call: Call,
        outputs: Tensors,
        start: Callable[[Carrier, Reduction], Started],
        inner: Callable[[], dist.Work],
    ) -> dist.Work:
        with self._lock:
            self._check_alive()
            if self._slots is not None and self._slots.serves(call):
                return self._by_slots(self._slots, call, outputs, start, inner)
            engine, reason = self._engine_for(call)
            if engine is None:
                return self._other(call.operation, reason, inner, call.tensors, call.size)
            self.counter.add(call.operation, ENGINE, reason, call.size)
            started = start(EngineCarrier(engine.communicator), call.reduction)
            engine.note(started.work)
        return EngineWork(started.work, outputs, started.completion, self._failed, engine.completer)

    def _by_slots(
        self,
        slots: Slots,
        call: Call,
        outputs: Tensors,
        start: Callable[[Carrier, Reduction], Started],
        inner: Callable[[], dist.Work],
    ) -> dist.Work:
        try:
            carrier, reason = slots.choose(call)
            if carrier is None:
                return self._other(call.operation, reason, inner, call.tensors, call.size)
            self.counter.add(call.operation, carrier.way.path, reason, call.size)

            def run() -> None:
                started = start(carrier, call.reduction)
                if started.completion is not None:
                    started.completion()

            return SlotWork(slots.device.issue(call.tensors, run), outputs)
        except CommunicationError as error:
            raise self._failed(error) from None

    def _engine_for(self, call: Call) -> tuple[Engine | None, str]:
        """Return what runs the operation and its name, or None and why nothing does."""
        if self._engines is None or call.collective is None:
            return None, self._reason
        for tensor in call.tensors:
            found = why_not_moved(tensor)
            if found is None and call.op is not None:
                found = why_not_reduced(tensor, call.op)
            if found is not None:
                return None, found
        try:
            engine = self._engines.get(call.collective, call.root, call.size)
        except CommunicationError as error:
            raise self._failed(error) from None
        except ForestcollError as error:
            return None, str(error)
        if engine is None:
            return None, "the tuning table has no schedule for this size"
        return engine, f"schedule of {call.collective.value}"

    def _without(
        self, operation: str, tensors: Any, opts: Any, inner: Callable[..., dist.Work], reason: str = ""
    ) -> dist.Work:
        with self._lock:
            self._check_alive()
            flat = _flat(tensors)
            rest = () if opts is None else (opts,)
            reason = reason or f"there are no schedules for {operation}"
            return self._other(operation, reason, lambda: inner(*rest), flat, _bytes(*flat))

    def _other(
        self, operation: str, reason: str, inner: Callable[[], dist.Work], tensors: Tensors, size: int
    ) -> dist.Work:
        device = tensors[0].device.type if tensors else "cpu"
        self.counter.add(operation, self._inner_names.get(device, device), reason, size)
        return inner()

    def _joined(self, works: list[dist.Work], outputs: Tensors) -> dist.Work:
        return works[0] if len(works) == 1 else JoinedWork(works, outputs)

    # Checks and faults.

    def _check_alive(self) -> None:
        if self._is_closed:
            raise dist.DistBackendError(f"forestcoll: group {self._name} was destroyed")
        if self._failure:
            raise dist.DistBackendError(
                f"{self._failure}; the group has failed: destroy it, or call forestcoll.torch.replan on all ranks"
            )

    def _failed(self, error: CommunicationError) -> BaseException:
        """Note that the group has failed, and return what callers get."""
        with self._lock:
            text = f"forestcoll: group {self._name}{self._ranks_in_words()}: {error}"
            self._failure = self._failure or text
        failure: BaseException = dist.DistBackendError(text)
        return failure

    def _ranks_in_words(self) -> str:
        if self.ranks == tuple(range(len(self.ranks))):
            return ""
        return f" (its ranks are {', '.join(map(str, self.ranks))} of the world)"

    def _check_list(self, operation: str, listed: Tensors, own: torch.Tensor) -> None:
        if len(listed) != self.size():
            raise ValueError(f"{operation}: the list has {len(listed)} tensors; give one for each rank, {self.size()}")
        mine = listed[self.rank()]
        if mine.numel() != own.numel() or any(each.dtype != own.dtype for each in listed):
            raise ValueError(
                f"{operation}: tensor {self.rank()} of the list has {mine.numel()} elements of {mine.dtype}, but this "
                f"rank's tensor has {own.numel()} of {own.dtype}; all must have one dtype, and these two one size"
            )

    def _check_parts(self, operation: str, output: torch.Tensor, source: torch.Tensor) -> None:
        for tensor in (output, source):
            if not tensor.dim() or tensor.shape[0] % self.size():
                raise ValueError(
                    f"{operation}: a tensor has the shape {list(tensor.shape)}; without sizes, its first dimension "
                    f"must be a multiple of {self.size()}, the number of ranks"
                )
        if output.numel() != source.numel() or output.dtype != source.dtype:
            raise ValueError(
                f"{operation}: the output has {output.numel()} elements of {output.dtype}, and the input "
                f"{source.numel()} of {source.dtype}; without sizes, they must have as many of one dtype"
            )

    def _check_whole(self, operation: str, whole: torch.Tensor, part: torch.Tensor) -> None:
        if whole.numel() != part.numel() * self.size() or whole.dtype != part.dtype:
            raise ValueError(
                f"{operation}: the tensor of all ranks has {whole.numel()} elements of {whole.dtype}, but this rank's "
                f"has {part.numel()} of {part.dtype}; it must have {self.size()} times as many of the same dtype"
            )


def _listed(tensors: Any) -> Tensors:
    listed: Tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
    if len(listed) != 1:
        raise ValueError(f"expected one tensor, but {len(listed)} were given")
    return listed


def _flat(tensors: Any) -> Tensors:
    if isinstance(tensors, torch.Tensor):
        return [tensors]
    return [tensor for each in tensors for tensor in _flat(each)]


def _options(kind: Any, opts: Any) -> Any:
    """Return options of `kind`; torch also lets callers pass a reduction or a root in their place."""
    if isinstance(opts, kind):
        return opts
    made = kind()
    if isinstance(opts, int):
        made.rootRank = opts
    elif isinstance(opts, dist.ReduceOp | dist.ReduceOp.RedOpType):
        made.reduceOp = opts
    return made


def _bytes(*tensors: torch.Tensor) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
