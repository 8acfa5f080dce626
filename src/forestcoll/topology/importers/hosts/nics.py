"""NICs of hosts as importers find them.

No data goes from GPU to GPU through a NIC. So a NIC that several GPUs use is two switches, `NIC/out` and `NIC/in`. The
NICs of a single host are not in its network, but an attribute of it keeps them, for a cluster of such hosts.
"""

from collections.abc import Iterable, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from forestcoll.base.errors import InputError, plural, shown, unknown_name
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.files import add_document, topology_to_document
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.model import Topology

FABRIC = "fabric"
"""The id of the switch that joins the NICs of all hosts."""

KEPT_NICS = "nics"
"""The attribute of a network of one host with its NICs."""


@dataclass(frozen=True)
class Nic:
    """A network card.

    Attributes:
        name: its name, unique in the file.
        speed: GB/s each way to the fabric.
        attached: the devices it is attached to, and the GB/s each way to each.
        attributes: further attributes of its node.
    """

    name: str
    speed: Fraction
    attached: tuple[tuple[str, Fraction], ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _ends(self) -> tuple[str, str]:
        """The nodes that send to the fabric and receive from it."""
        return (self.name, self.name) if len(self.attached) == 1 else (f"{self.name}/out", f"{self.name}/in")

    def add(self, builder: TopologyBuilder, box: object) -> None:
        """Add the NIC, and its links to its devices."""
        out, back = self._ends
        attributes: dict[str, Any] = {"box": box, "device": "nic"}
        if back != out:
            attributes["nic"] = self.name
            builder.add_switch(back, **attributes)
        builder.add_switch(out, **attributes, **self.attributes)
        for device, bandwidth in self.attached:
            builder.add_link(device, out, bandwidth)
            builder.add_link(back, device, bandwidth)

    def join(self, builder: TopologyBuilder) -> None:
        """Add the links to the fabric."""
        out, back = self._ends
        builder.add_link(out, FABRIC, self.speed)
        builder.add_link(FABRIC, back, self.speed)

    def among(self, devices: AbstractSet[object]) -> "Nic | None":
        """Return the NIC with those of its devices that are left; None if there are none."""
        attached = tuple(each for each in self.attached if each[0] in devices)
        return replace(self, attached=attached) if attached else None

    def renamed(self, prefix: str) -> "Nic":
        """Return the NIC with a prefix to its name and to those of its devices."""
        attached = tuple((f"{prefix}{device}", bandwidth) for device, bandwidth in self.attached)
        return replace(self, name=f"{prefix}{self.name}", attached=attached)

    def document(self) -> dict[str, object]:
        """Return the NIC as JSON."""
        attached = {device: str(bandwidth) for device, bandwidth in self.attached}
        return {"id": self.name, "bandwidth": str(self.speed), "attached": attached, **self.attributes}


def nic_from(document: Any) -> Nic:
    """Return the NIC that a document describes; any error of a dictionary or a number if it is broken."""
    more = {key: value for key, value in document.items() if key not in ("id", "bandwidth", "attached")}
    attached = tuple((device, Fraction(speed)) for device, speed in document["attached"].items())
    return Nic(document["id"], Fraction(document["bandwidth"]), attached, more)


def with_kept_nics(topology: Topology) -> Topology:
    """Return the network of one host with the NICs that it keeps, which lead to a fabric.

    NICs of GPUs that were taken out since are left out.

    Raises:
        InputError: the attribute was changed by hand, and is broken.
    """
    entries: Any = topology.attributes.get(KEPT_NICS)
    if not entries:
        return topology
    try:
        nics = [nic_from(each) for each in entries]
    except (TypeError, KeyError, AttributeError, ValueError, ZeroDivisionError):
        raise changed_by_hand(topology, KEPT_NICS) from None
    builder = add_document(topology_to_document(topology), where=topology.name)
    builder.add_switch(FABRIC)
    for nic in filter(None, (nic.among({node.id for node in topology.nodes}) for nic in nics)):
        nic.add(builder, topology.nodes[topology.compute[0]].attributes.get("box", topology.name))
        nic.join(builder)
    return builder.build()


def changed_by_hand(topology: Topology, name: str) -> InputError:
    """Return the error about an attribute that is broken."""
    return InputError(
        f"{topology.name}: the attribute {name} of the network is not as forestcoll import writes it; import again"
    )


def counted(where: str, cards: Sequence[str], near: Sequence[str], which: str) -> list[str]:
    """Return the cards that count: those in `near`, all, or some by their names, as the option `nics` says.

    Raises:
        InputError: there is no such card.
    """
    if which in ("near", "all"):
        return list(near if which == "near" else cards)
    names = which.split("+")
    for name in names:
        if name not in cards:
            raise unknown_name(f"{where}: --nics: there is no network card {shown(name)}", name, cards)
    return [card for card in cards if card in names]


def note_without_speed(cards: Sized, notes: Notes) -> None:
    """Note the cards of a single host whose speed is not given: they are left out."""
    if cards:
        what = "the file does not say what they carry; give --nic to keep them for a cluster or --hosts"
        notes.ignore(f"{plural(len(cards), 'NIC')}: {what}")


def note_unused(where: str, cards: list[str], which: str, notes: Notes) -> None:
    """Note cards that do not count; `which` is the option `nics`."""
    if cards:
        why = "further away from GPUs than others (--nics all counts them)" if which == "near" else "not named"
        notes.ignore(f"{where}: {plural(len(cards), 'NIC')} {why}: {listed(cards)}")


def within_slots(nics: Sequence[Nic], slots: Mapping[str, Fraction]) -> list[Nic]:
    """Return NICs whose links to a GPU carry together what its slot carries, if its NICs are faster.

    Args:
        nics: the NICs, attached to GPUs.
        slots: GB/s each way of the slot of each GPU.
    """
    wanted: dict[str, Fraction] = {}
    for nic in nics:
        for gpu, bandwidth in nic.attached:
            wanted[gpu] = wanted.get(gpu, Fraction(0)) + min(bandwidth, nic.speed)

    def limited(nic: Nic, gpu: str, bandwidth: Fraction) -> Fraction:
        slot = slots.get(gpu, wanted[gpu])
        return bandwidth if wanted[gpu] <= slot else min(bandwidth, nic.speed) * slot / wanted[gpu]

    return [
        replace(nic, attached=tuple((gpu, limited(nic, gpu, bandwidth)) for gpu, bandwidth in nic.attached))
        for nic in nics
    ]


@dataclass(frozen=True)
class Near:
    """Network cards that are equally near to some GPUs.

    Attributes:
        cards: the cards.
        gpus: the GPUs; all GPUs of the host, if the cards are near none.
        is_far: whether the cards are near none.
    """

    cards: Sequence[str]
    gpus: Sequence[str]
    is_far: bool = False


def users_of(near: Iterable[Near], *, all_count: bool) -> dict[str, list[str]]:
    """Return the GPUs that use each card.

    Cards are given to the GPUs near them that have no nearer card, each its share. If there is no such GPU, the card
    serves none, unless all cards count. GPUs share a card that is near none.

    Args:
        near: the cards, the nearest first.
        all_count: whether each card has a user.

    Example:
        >>> users_of([Near(["x"], ["a"]), Near(["y"], ["a", "b"]), Near(["z"], ["a", "b"])], all_count=False)
        {'x': ['a'], 'y': ['b']}
    """
    found: dict[str, list[str]] = {}
    served: set[str] = set()
    for each in near:
        waiting = [gpu for gpu in each.gpus if gpu not in served]
        if each.is_far:
            found |= {card: list(each.gpus) for card in each.cards}
        elif waiting or all_count:
            found |= shared_out(waiting or each.gpus, each.cards)
        served |= {gpu for card in each.cards for gpu in found.get(card, ())}
    return found


def share(users: dict[str, list[str]], near: Mapping[str, Sequence[str]]) -> None:
    """Let GPUs without a card use one at their PCIe switch, with its other users.

    Args:
        users: the GPUs that use each card.
        near: for each GPU the cards at its PCIe switch; empty if there are none.
    """
    served = {gpu for gpus in users.values() for gpu in gpus}
    for gpu, cards in near.items():
        usable = [card for card in cards if card in users]
        if gpu not in served and usable:
            min((users[card] for card in usable), key=len).append(gpu)


def shared_out(gpus: Sequence[str], nics: Sequence[str]) -> dict[str, list[str]]:
    """Return for each NIC the GPUs that use it, where these are equally near: each GPU gets its share of the NICs.

    Example:
        >>> shared_out(["a", "b"], ["x", "y"]), shared_out(["a", "b"], ["x"]), shared_out(["a"], ["x", "y"])
        ({'x': ['a'], 'y': ['b']}, {'x': ['a', 'b']}, {'x': ['a'], 'y': ['a']})
    """
    if len(nics) >= len(gpus):
        return {nic: [gpus[place * len(gpus) // len(nics)]] for place, nic in enumerate(nics)}
    users: dict[str, list[str]] = {nic: [] for nic in nics}
    for place, gpu in enumerate(gpus):
        users[nics[place * len(nics) // len(gpus)]].append(gpu)
    return users
