"""The list that `nvidia-smi nvlink -s` prints: of each GPU its NVLinks and the raw speed of each.

The list does not say where links lead. GPUs with the same number of links are read as ports of one NVSwitch, if they
have as many as GPUs on NVSwitches have. Links that are `<inactive>` have failed or are not wired, and do not count.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.hosts.host import Device, HostFile, duplex, hosts_network
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.importers.source import Source

_GPU = re.compile(r"GPU\s+([0-9]{1,4}):(.*)")
_LINK = re.compile(r"Link\s+([0-9]{1,3}):\s*(?:([0-9]{1,4}(?:\.[0-9]{1,6})?)\s*GB/s|(<?inactive>?|N/A))", re.IGNORECASE)
_NOMINAL = (("19", "21.5", "20"), ("24.5", "27", "25"), ("48", "55", "50"), ("13.5", "14.5", "225/16"))
"""Raw speeds from and to, and what such a link carries."""
_LEAST_OF_SWITCHES = 12


@dataclass
class _Links:
    """The NVLinks of one GPU."""

    model: str
    line: int
    active: list[Fraction]
    inactive: int = 0


@importers.add("nvidia-smi-nvlink", summary="the list of nvidia-smi nvlink -s", several=True, tried=30)
@dataclass(frozen=True)
class NvidiaSmiNvlink(Importer):
    """Reads the list of nvidia-smi nvlink -s."""

    nvlink: Fraction | None = option("nvlink")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text holds such a list."""
        return _LINK.search(text) is not None and re.search(r"\bGPU[ \t]+[0-9]{1,4}:", text) is not None

    def read(self, sources: Sequence[Source], notes: Notes) -> TopologyBuilder:
        """Return the network of a host whose GPUs are on an NVSwitch, or are two."""
        return hosts_network([_host(source, self, notes) for source in sources], notes)


def stated_speed(source: Source) -> Fraction | None:
    """Return what one active NVLink carries, if a file lists active links that are all equally fast."""
    raw = {Fraction(found[2]) for line in source.lines if (found := _LINK.search(line)) and found[2]}
    speeds = {_nominal(each) for each in raw}
    return speeds.pop() if len(speeds) == 1 else None


def _nominal(raw: Fraction) -> Fraction:
    """Return the nominal speed of a link whose raw speed is printed; an unknown one stays."""
    return next((Fraction(speed) for low, high, speed in _NOMINAL if Fraction(low) <= raw <= Fraction(high)), raw)


def _host(source: Source, options: NvidiaSmiNvlink, notes: Notes) -> HostFile:
    gpus = _gpus(source)
    active = {name: links for name, links in gpus.items() if links.active}
    if len(active) < 2:
        raise source.error("lists fewer than two GPUs with active NVLinks; run nvidia-smi topo -m for PCIe")
    if len(active) > 2 and min(len(links.active) for links in active.values()) < _LEAST_OF_SWITCHES:
        fewest = min(active.values(), key=lambda links: len(links.active))
        count = plural(len(fewest.active), "active NVLink")
        what = f"a GPU with {count} may be linked to single GPUs, and the list does not say to which"
        raise source.error(f"{what}; run nvidia-smi topo -m and import that", fewest.line)
    missing = [name for name in gpus if name not in active]
    if missing:
        notes.ignore(f"{source.where}: {listed(missing)}: no NVLink is active")
    _note_inactive(source, active, notes)
    notes.assume(f"{source.where}: all active NVLinks lead to one NVSwitch; the list does not say where they lead")
    links: list[tuple[str, str, Fraction]] = []
    for name, its in active.items():
        each = [options.nvlink if options.nvlink is not None else _nominal(raw) for raw in its.active]
        links += duplex(name, "NVSwitch", sum(each, Fraction(0)))
    devices = tuple(Device(name, {"gpu": name.removeprefix("GPU"), "model": its.model}) for name, its in active.items())
    return HostFile(source, source.stem, devices, (Device("NVSwitch", {"device": "nvswitch"}),), tuple(links))


def _note_inactive(source: Source, active: dict[str, _Links], notes: Notes) -> None:
    broken = [name for name, its in active.items() if its.inactive]
    if broken:
        count = sum(its.inactive for its in active.values())
        notes.ignore(f"{source.where}: {plural(count, 'inactive NVLink')} of {listed(broken)}")


def _gpus(source: Source) -> dict[str, _Links]:
    gpus: dict[str, _Links] = {}
    current: _Links | None = None
    for number, line in source.numbered():
        if found := _GPU.search(line):
            name = f"GPU{int(found[1])}"
            if name in gpus:
                raise source.error(f"{name} is listed twice; import the output of one host", number)
            current = gpus[name] = _Links(found[2].partition("(UUID")[0].strip(), number, [])
        elif current is not None and (link := _LINK.search(line)):
            if link[2] is None or not Fraction(link[2]):
                current.inactive += 1
            else:
                current.active.append(Fraction(link[2]))
    return gpus
