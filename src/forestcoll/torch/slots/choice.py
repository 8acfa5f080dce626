"""Which way a collective on CUDA tensors takes: NCCL's own, two levels, or slots; and why."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from itertools import product
from pathlib import Path

import torch
import torch.distributed as dist

from forestcoll.algorithms.few_trees import few_trees
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.files import parse_document
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.runtime import ReduceOp, plan_of
from forestcoll.runtime.cuda_table import INNER, SLOTS, TWO_LEVEL, CudaTable, cuda_table_of, read_cuda_table
from forestcoll.runtime.environment import host_here
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.torch.calls.accelerators import ACCELERATORS
from forestcoll.torch.calls.call import Call
from forestcoll.torch.calls.elements import TORCH_OPS, TYPES, reduction_of
from forestcoll.torch.calls.inner import Meeting, group_for
from forestcoll.torch.calls.paths import log
from forestcoll.torch.options import AUTO
from forestcoll.torch.schedules import cache as schedules
from forestcoll.torch.schedules.agreement import Agreement
from forestcoll.torch.schedules.engines import Seat
from forestcoll.torch.slots.boxes import EqualBoxes, boxes_of, check_hosts, equal_boxes
from forestcoll.torch.slots.carrier import SlotCarrier, Way
from forestcoll.torch.slots.graphs import Graphs
from forestcoll.torch.slots.movement import chunks_for
from forestcoll.torch.slots.program import MOST_OPERATIONS, Timetable
from forestcoll.torch.slots.sends import Peers, Sends
from forestcoll.torch.slots.streams import device_of
from forestcoll.torch.slots.two_level import STAGES, Level, TwoLevel, ranks_of, require_forest

_WARM_UP = 2**12
"""The elements of a rank in the first calls: enough that no tree is without data."""

_NOT_IN_NCCL = frozenset({torch.int16, torch.uint16, torch.uint32, torch.uint64})

Choice = tuple[SlotCarrier | None, str]
"""What moves the data, None for the inner group; and why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how slots run.

    Attributes:
        cuda: the value of the option.
        table: the file for `auto`, which rank 0 reads.
        device: the type of device whose tensors they move.
        store: where their groups find each other.
        seat: how this process takes part.
    """

    cuda: str
    table: Path | None
    device: str
    store: dist.Store
    seat: Seat


class Slots:
    """The ways of the tensors of one type of device in a group.

    Attributes:
        place: where and how they run.
        device: what they need of the device.

    Args:
        place: where and how they run.
        topology: of the group; its compute node i is rank i.
        agreement: with the other ranks.

    Raises:
        CommunicationError: ranks do not come together.
    """

    def __init__(self, place: Place, topology: Topology, agreement: Agreement) -> None:
        self.device = device_of(place.device)
        self._graphs = Graphs(self.device)
        self.place, self._agreement = place, agreement
        self._whole = topology
        self._topology = topology.without_abilities()  # switches do not copy or add up what NCCL sends
        self._rank, self._size = place.seat.rank, len(topology.compute)
        self._boxes = boxes_of(topology)
        self._table = self._read_table() if place.cuda == AUTO else None
        self._asked: tuple[str, int] | None = None
        self._groups: dict[str, dist.ProcessGroup] = {}
        self._ways: dict[tuple[str, Collective, int | None], Way | str] = {}
        try:
            self._warm_up()
        except BaseException:
            self.close(abort=True)
            raise

    def serves(self, call: Call) -> bool:
        """Return whether a tensor of the call is on the type of device."""
        return any(tensor.device.type == self.place.device for tensor in call.tensors)

    def choose(self, call: Call) -> Choice:
        """Return the way of a call.

        Raises:
            CommunicationError: ranks do not come together.
        """
        reason = why_not(call, self.place.device)
        if reason is not None or call.collective is None or call.collective.is_personalised:
            return None, reason or f"there are no slots for {call.operation}"
        kind, chunks = self._wanted(call, call.collective)
        if kind == INNER:
            return None, "the inner group was measured to be the fastest, or nothing was measured"
        if kind == TWO_LEVEL and call.counts is not None:
            return None, "two levels need equal parts"
        way = self._way(kind, call.collective, call.root)
        if isinstance(way, str):
            return None, way
        chunks = chunks or chunks_for(way.plan, way.depth, call.size)
        carrier = SlotCarrier(way, self._rank, chunks, self._graphs)
        eager = f", without graphs: {self._graphs.fault}" if self.device.can_capture and self._graphs.fault else ""
        return carrier, f"schedule of {call.collective.value}, S = {chunks}{eager}"

    def ask(self, path: str, chunks: int = 0) -> None:
        """Let all further calls go one way, on all ranks, in order to measure it.

        Args:
            path: `nccl` for the inner group, `two-level` or `slots`.
            chunks: S; 0 for the value that the model has.
        """
        self._asked = path, chunks

    def _wanted(self, call: Call, collective: Collective) -> tuple[str, int]:
        """Return path and S for a call; 0 for the value of the model."""
        if self._asked is not None:
            return self._asked
        if self._table is None:
            return self.place.cuda, 0
        best = self._table.best(collective, call.size)
        return (INNER, 0) if best is None else (best.path, best.chunks)

    def close(self, *, abort: bool = False) -> None:
        """Drop the graphs, and leave the groups."""
        self._graphs.close(abort=abort)
        groups, self._groups = self._groups, {}
        for group in groups.values():
            group.abort() if abort else group.shutdown()

    def _way(self, kind: str, collective: Collective, root: int | None) -> Way | str:
        """Return a way of this kind, or why there is none."""
        if kind == TWO_LEVEL and collective not in STAGES:
            return f"two levels have no {collective.value}"
        key = kind, collective, root
        if key not in self._ways:
            make = {TWO_LEVEL: self._two_level, SLOTS: self._sends}[kind]
            try:
                self._ways[key] = make(collective, root)
            except (InputError, NoSolutionError) as error:
                self._ways[key] = str(error)
                if self._rank == 0:
                    log.warning("%s goes to the inner group: %s", collective.value, error)
        return self._ways[key]

    def _warm_up(self) -> None:
        """Open the connections of the collectives without a root, by one small call of each."""
        kinds = {self.place.cuda} if self._table is None else self._table.paths - {INNER}
        whole = torch.zeros(self._size * _WARM_UP, device=self.place.device)
        part = whole[:_WARM_UP].clone()
        for kind, collective in product(sorted(kinds), UNROOTED):
            way = self._way(kind, collective, None)
            if isinstance(way, Way):
                carrier = SlotCarrier(way, self._rank, 1, self._graphs)
                self.device.issue([whole, part], partial(_small_call, carrier, whole, part))
        self.device.finish()

    def _two_level(self, collective: Collective, root: int | None) -> Way:
        boxes = self._equal_boxes
        plan = plan_of(self._agreed(collective, root, two_levels))
        require_forest(plan, boxes)
        whole, rank = tuple(range(self._size)), self._rank
        groups = {level: self._group(level.value, ranks_of(boxes, level, rank)) for level in Level}
        levels = TwoLevel(boxes, rank, groups, self._group("whole", whole))
        return Way(TWO_LEVEL, plan, len(STAGES[collective]), levels.bound)

    def _sends(self, collective: Collective, root: int | None) -> Way:
        timetable = Timetable(plan_of(self._agreed(collective, root, few_trees)))
        most = timetable.most_operations(self._boxes)
        if most > MOST_OPERATIONS:
            raise InputError(
                f"{self._topology.name}: a slot of {collective.with_article} has {most} sends and receives of a rank; "
                f"groups of NCCL with more than {MOST_OPERATIONS} can hang"
            )
        peers = [self._peers("whole", tuple(range(self._size)))]
        box = next((box for box in self._boxes if self._rank in box), ())
        if 1 < len(box) < self._size:
            peers.insert(0, self._peers("box", box))
        sends = Sends(timetable, self._rank, peers, self.device)
        return Way(SLOTS, timetable.plan, timetable.depth, sends.bound)

    def _peers(self, name: str, ranks: Sequence[int]) -> Peers:
        return Peers(self._group(name, ranks), {rank: place for place, rank in enumerate(ranks)})

    @cached_property
    def _equal_boxes(self) -> EqualBoxes:
        """The boxes for two levels, which rank 0 compares with the hosts of all ranks."""
        self._agreement.report({"host": host_here()}, "hosts")

        def lead() -> bytes:
            check_hosts(self._boxes, [str(each["host"]) for each in self._agreement.reports("hosts")])
            return b""

        self._agreement.share("boxes", lead)
        return equal_boxes(self._topology, self._boxes)

    def _agreed(self, collective: Collective, root: int | None, make: schedules.Maker) -> Schedule:
        """Return the verified schedule of all ranks, which rank 0 makes."""

        def lead() -> bytes:
            folder = self.place.seat.cache
            return schedules.to_bytes(schedules.schedule_of(self._topology, collective, root, folder, make))

        key = f"{make.__name__}/{collective.value}/{root}"
        return schedules.from_bytes(self._agreement.share(key, lead), self._topology)

    def _group(self, name: str, ranks: Sequence[int]) -> dist.ProcessGroup:
        """Return the group of these ranks, of which this is one; all of them call it."""
        if name not in self._groups:
            seat = self.place.seat
            store = dist.PrefixStore(f"{name}/{ranks[0]}/", self.place.store)
            meeting = Meeting(store, ranks.index(self._rank), len(ranks), timedelta(seconds=seat.timeout), seat.address)
            self._groups[name] = group_for(self.place.device, meeting)
            self.device.open(self._groups[name])
        return self._groups[name]

    def _read_table(self) -> CudaTable:
        """Return the table that rank 0 reads."""
        file = self.place.table

        def lead() -> bytes:
            if file is None:
                raise InputError("cuda is 'auto', which needs a table; name it by cuda_table or FORESTCOLL_CUDA_TABLE")
            return json.dumps(read_cuda_table(file, self._whole).to_document()).encode()

        data = self._agreement.share("cuda-table", lead)
        return cuda_table_of(parse_document(data, Path("the table of rank 0")), self._whole, "the table of rank 0")


def two_levels(topology: Topology, demand: Demand) -> Schedule:
    """Return the two-level forest."""
    schedule: Schedule = generate(topology, demand, TWO_LEVEL)
    return schedule


def _small_call(carrier: SlotCarrier, whole: torch.Tensor, part: torch.Tensor) -> None:
    """Run the collective of the carrier once on zeros."""
    reduction = ReduceOp.SUM, 1.0
    if carrier.way.plan.collective is Collective.ALLREDUCE:
        carrier.allreduce(whole, reduction)
    elif carrier.way.plan.collective is Collective.ALLGATHER:
        carrier.allgather(whole, part, None)
    else:
        carrier.reduce_scatter(part, whole, None, reduction)


def why_not(call: Call, device: str) -> str | None:
    """Return why no slots can run the call; None if some may."""
    for tensor in call.tensors:
        if tensor.device.type != device:
            return f"a tensor is on {tensor.device}"
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
            return "a tensor is not a plain dense one"
        if device != "cpu" and tensor.dtype in _NOT_IN_NCCL:
            return f"{ACCELERATORS[device].title} has no elements of {tensor.dtype}"
    return None if call.op is None else _why_not_reduced(call.op, call.tensors[0].dtype)


def _why_not_reduced(op: dist.ReduceOp, dtype: torch.dtype) -> str | None:
    reduction = reduction_of(op)
    if reduction is None or reduction[0] not in TORCH_OPS:
        return "slots do not have this reduction"
    if dtype not in TYPES:
        return f"slots do not add up elements of {dtype}"
    if reduction[0] is ReduceOp.AVG and not dtype.is_floating_point:
        return f"slots have no average of elements of {dtype}"
    return None
