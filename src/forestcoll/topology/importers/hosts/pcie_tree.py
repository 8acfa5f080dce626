"""The PCIe tree of a host in NCCL's XML: which NICs serve GPUs, how fast they reach them, and the tree as a network.

A NIC counts if it shares a PCIe switch with a GPU. If no NIC does, as in many virtual machines, all cards with a PCIe
slot count. Much slower cards are for management. The option `nics` counts others. NICs at the lowest PCIe switches are
given to the GPUs there, and NICs further up to GPUs that have none yet. GPUs share a NIC that is near none, and a GPU
that is left without one shares a NIC at its PCIe switch. A PCIe switch with a single device below is left out: its link
has the bandwidth of the slowest slot on the path.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from forestcoll.base.errors import plural
from forestcoll.topology.importers.hosts.host import Device, duplex
from forestcoll.topology.importers.hosts.link_speeds import (
    LEAST_MBPS,
    MBPS_PER_GBPS,
    MOST_MBPS,
    cpu_link_speed,
    pcie_rate,
    pcie_speed,
)
from forestcoll.topology.importers.hosts.nccl_elements import Slot
from forestcoll.topology.importers.hosts.nics import Near, Nic, counted, share, users_of, within_slots
from forestcoll.topology.importers.notes import Notes, listed

if TYPE_CHECKING:
    from forestcoll.topology.importers.hosts.nccl_xml import NcclXml

C2C_PER_GBPS = 1000
"""NVLink-C2C is stated in thousandths of GB/s."""

_ALL = "--nics all counts them"
_SLOW = 10
"""A port with less than this part of the speed of the fastest one is for management."""

Links = list[tuple[str, str, Fraction]]


@dataclass(frozen=True)
class PcieTree:
    """The slots of one host.

    Attributes:
        where: the file.
        prefix: what names of devices begin with.
        cpus: the roots.
        gpus: the names of the GPUs by slot, in the order of the GPUs.
        options: the importer, with the speeds that the user gives.
        notes: what is said of the work.
    """

    where: str
    prefix: str
    cpus: Sequence[Slot]
    gpus: Mapping[Slot, str]
    options: "NcclXml"
    notes: Notes

    @cached_property
    def _gpus_below(self) -> dict[Slot, list[str]]:
        below: dict[Slot, list[str]] = {}
        for slot, name in self.gpus.items():
            for above in slot.above:
                below.setdefault(above, []).append(name)
        return below

    @cached_property
    def _cards(self) -> tuple[Slot, ...]:
        """The slots of the NICs that serve GPUs, in the order in which NCCL numbers their ports."""
        cards = self._all_cards()
        near = [card for card in cards if any(above in self._gpus_below for above in card.above if not above.is_cpu)]
        used = near or [card for card in cards if not card.is_cpu] or cards
        fast = _fast(used)
        names = counted(self.where, _ports(cards), _ports(fast), self.options.nics)
        chosen = [card for card in cards if any(net.name in names for net in card.nets)]
        if self.options.nics == "near":
            why = "that share no PCIe switch with a GPU" if near else "that have no PCIe slot"
            self._say_unused([card for card in cards if card not in used], f"{why} ({_ALL})")
            slow = [card for card in used if card not in fast]
            self._say_unused(slow, f"with less than a tenth of the speed of others ({_ALL})")
        else:
            self._say_unused([card for card in cards if card not in chosen], "that --nics omits")
        return tuple(chosen)

    def _all_cards(self) -> list[Slot]:
        """Return the slots with ports; a port that is listed under several CPUs, as sockets are, counts once."""
        cards: dict[tuple[int, str], Slot] = {}
        for slot in (slot for cpu in self.cpus for slot in cpu.all() if slot.nets):
            first = min(slot.nets, key=lambda net: net.dev)
            cards.setdefault((first.dev, first.name), slot)
        return [cards[key] for key in sorted(cards)]

    def _say_unused(self, unused: Sequence[Slot], why: str) -> None:
        names = [net.name for card in unused for net in card.nets]
        if names:
            count = plural(len(names), "network port")
            self.notes.ignore(f"{self.where}: {count} {why}: {listed(names)}")

    def nics_at_gpus(self) -> list[Nic]:
        """Return the NICs, each attached to the GPUs that use it."""
        near: dict[Slot | None, list[Slot]] = {}
        for card in self._cards:
            near.setdefault(next((each for each in card.above if each in self._gpus_below), None), []).append(card)
        order = sorted(near, key=lambda each: 0 if each is None else -1 - len(each.above))
        users = users_of((self._near(near[each], each) for each in order), all_count=self.options.nics != "near")
        self._say_unused(
            [card for card in self._cards if self._name(card) not in users],
            f"further away from GPUs than their other ports ({_ALL})",
        )
        share(users, {name: self._cards_at(slot) for slot, name in self.gpus.items()})
        nics = [
            self._nic(card, tuple((gpu, self._path_speed(card, gpu)) for gpu in users[self._name(card)]))
            for card in self._cards
            if self._name(card) in users
        ]
        return within_slots(nics, self._gpu_speeds)

    def _cards_at(self, slot: Slot) -> list[str]:
        """Return the NICs below the lowest PCIe switch above a GPU that has some."""
        for switch in slot.above:
            below = set(switch.all())
            if not switch.is_cpu and (cards := [self._name(card) for card in self._cards if card in below]):
                return cards
        return []

    def _near(self, cards: Sequence[Slot], meeting: Slot | None) -> Near:
        """Return NICs with the GPUs below the lowest slot above a NIC that has some; with all GPUs if it is None."""
        names = [self._name(card) for card in cards]
        if meeting is not None:
            return Near(names, self._gpus_below[meeting])
        if len(self.gpus) > 1:
            count = plural(len(names), "NIC")
            self.notes.assume(f"{self.where}: {count} near no GPU, shared by all GPUs of the host: {listed(names)}")
        return Near(names, list(self.gpus.values()), is_far=True)

    @cached_property
    def _gpu_speeds(self) -> dict[str, Fraction]:
        """What each GPU and its NICs exchange: over its slot, or over NVLink-C2C, if it has that."""
        return {
            name: max(self._uplink(slot), Fraction(slot.gpus[0].c2c, C2C_PER_GBPS)) for slot, name in self.gpus.items()
        }

    def _path_speed(self, card: Slot, gpu: str) -> Fraction:
        """Return what the slowest slot between a NIC and a GPU carries.

        A GPU with NVLink-C2C reaches its CPU over that.
        """
        slot = next(slot for slot, name in self.gpus.items() if name == gpu)
        meeting = next((each for each in card.above if each in slot.above), None)
        speed = min((self._uplink(each) for each in self._below(slot, meeting)), default=None)
        c2c = Fraction(slot.gpus[0].c2c, C2C_PER_GBPS)
        if speed is not None and speed < c2c and (meeting is None or meeting.is_cpu):
            what = f"NVLink-C2C of {float(c2c):g} GB/s, as its PCIe slot carries {float(speed):g} GB/s"
            self.notes.assume(f"{self.where}: {gpu} reaches NICs over {what}")
            speed = c2c
        ends = [*(self._uplink(each) for each in self._below(card, meeting)), *([] if speed is None else [speed])]
        return min(ends, default=self._speed(card))

    def _below(self, slot: Slot, top: Slot | None) -> list[Slot]:
        """Return the slots with a link upwards, from `slot` to below `top`."""
        path = [slot, *slot.above]
        path = path[: path.index(top)] if top in path else path
        return [each for each in path if not each.is_cpu]

    def nics_in_tree(self) -> list[Nic]:
        """Return the NICs, each attached to the slot of the tree above it."""
        return [self._nic(card, (self._attachment(card),)) for card in self._cards]

    def _attachment(self, slot: Slot) -> tuple[str, Fraction]:
        """Return the device above a slot in the network, and what the slots up to there carry."""
        if slot.is_cpu:
            return self._device(slot), self._speed(slot)
        top = next(each for each in slot.above if each in self._kept)
        return self._device(top), min(self._uplink(each) for each in self._below(slot, top))

    @cached_property
    def _kept(self) -> dict[Slot, None]:
        """The CPUs and PCIe switches of the network, from the top."""
        leaves = [*self.gpus, *(card for card in self._cards if not card.is_cpu)]
        below: dict[Slot, dict[Slot, None]] = {}
        for leaf in leaves:
            path = [leaf, *leaf.above]
            for child, parent in pairwise(path):
                below.setdefault(parent, {})[child] = None
        slots = [slot for cpu in self.cpus for slot in cpu.all()]
        return {slot: None for slot in slots if slot in below and (slot.is_cpu or len(below[slot]) > 1)}

    def network(self) -> tuple[list[Device], Links]:
        """Return the CPUs and PCIe switches, and all links between these and the GPUs."""
        devices = [
            Device(
                self._device(slot), {"device": "cpu"} if slot.is_cpu else {"device": "pcie switch", "busid": slot.name}
            )
            for slot in self._kept
        ]
        links: Links = []
        for slot in self._kept:
            if not slot.is_cpu:
                links += duplex(self._device(slot), *self._attachment(slot))
        for slot, name in self.gpus.items():
            links += duplex(name, *self._attachment(slot))
        return devices, [*links, *self._between_cpus()]

    def _between_cpus(self) -> Links:
        links: Links = []
        for one, other in combinations([slot for slot in self._kept if slot.is_cpu], 2):
            bandwidth = self.options.link_bandwidth
            if bandwidth is None:
                bandwidth = self._cpu_link(one)
                self.notes.assume(f"a link between two CPUs carries {bandwidth} GB/s, NCCL's figure for this CPU")
            links += duplex(self._device(one), self._device(other), bandwidth)
        return links

    @staticmethod
    def _cpu_link(cpu: Slot) -> Fraction:
        found = cpu.element
        numbers = found.number("familyid"), found.number("modelid")
        return cpu_link_speed(found.get("arch"), found.get("vendor"), *numbers)

    def cpu_of(self, slot: Slot) -> str:
        """Return the name of the CPU above a slot."""
        return self._device(([slot, *slot.above])[-1])

    def _device(self, slot: Slot) -> str:
        return self._device_names[slot]

    @cached_property
    def _device_names(self) -> dict[Slot, str]:
        """The names of CPUs and PCIe switches; files that were written by hand use bus ids twice."""
        names: dict[str, Slot] = {}
        for slot in (slot for cpu in self.cpus for slot in cpu.all()):
            plain = f"{self.prefix}CPU{slot.name}" if slot.is_cpu else f"{self.prefix}PCIe-{slot.name}"
            name, number = plain, 2
            while name in names:
                name, number = f"{plain}-{number}", number + 1
            names[name] = slot
        return {slot: name for name, slot in names.items()}

    def _uplink(self, slot: Slot) -> Fraction:
        if self.options.pcie is not None:
            return self.options.pcie
        rate = pcie_rate(slot.link_speed, self.options.speeds)
        if rate is None:
            self.notes.assume(f"{self.where}: PCIe slots without a known speed run at 8 GT/s, as NCCL assumes")
        return pcie_speed(rate, slot.width, self.options.speeds)

    def _name(self, card: Slot) -> str:
        return self._card_names[card]

    @cached_property
    def _card_names(self) -> dict[Slot, str]:
        """The names of the NICs: that of the first port, with its number where several cards have the same."""
        firsts = {card: min(card.nets, key=lambda net: net.dev) for card in self._cards}
        used = Counter(net.name for net in firsts.values())
        return {
            card: f"{self.prefix}{net.name}" if used[net.name] == 1 else f"{self.prefix}{net.name}-{net.dev}"
            for card, net in firsts.items()
        }

    def _nic(self, card: Slot, attached: tuple[tuple[str, Fraction], ...]) -> Nic:
        place: dict[str, object] = {} if card.is_cpu else {"busid": card.name}
        devices = sorted(net.dev for net in card.nets)
        attributes: dict[str, object] = {"ports": len(card.nets), "devices": devices}
        return Nic(self._name(card), self._speed(card), attached, attributes | place)

    def _speed(self, card: Slot) -> Fraction:
        if self.options.nic is not None:
            return self.options.nic
        speeds = []
        for net in card.nets:
            speed = net.speed if net.speed > 0 else LEAST_MBPS
            if net.speed <= 0:
                what = f"states no speed; it has {LEAST_MBPS:,} Mb/s, as NCCL assumes"
                self.notes.assume(f"{self.where}: {net.name} {what}")
            if speed > MOST_MBPS:
                self.notes.assume(
                    f"{self.where}: {net.name} has speed {speed} Mb/s as the file says, which is implausible; "
                    "give the right one by --nic"
                )
            speeds.append(Fraction(speed, MBPS_PER_GBPS))
        return sum(speeds, Fraction(0))


def _fast(cards: Sequence[Slot]) -> list[Slot]:
    """Return the cards without those that are much slower than the fastest one."""
    speeds = {card: sum(max(net.speed, 0) for net in card.nets) for card in cards}
    return [card for card, speed in speeds.items() if _SLOW * speed >= max(speeds.values())]


def _ports(cards: Sequence[Slot]) -> list[str]:
    return [net.name for card in cards for net in card.nets]
