"""Keys of a topology file that look like a mistake: what people write for a key that the format has.

A file may hold keys of its own, which are kept. So a misspelt key would be taken for one of these, and a node with
`"type": "switch"` for a GPU. Therefore a key that looks like a known one is refused where the known key is missing;
where that is there too, it is an attribute like any other.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache

_KEYS = {
    "document": {
        "directed": "oriented one_way",
        "multigraph": "",
        "graph": "",
        "nodes": "vertices",
        "edges": "arcs",
    },
    "graph": {
        "format": "",
        "name": "",
        "bandwidth_unit": "unit units bandwidth_units bw_unit",
        "port_model": "ports port port_mode",
    },
    "node": {
        "id": "name label node",
        "kind": "type node_type node_kind role",
        "multicast": "can_multicast multicasts",
        "aggregation": "aggregate aggregates can_aggregate",
    },
    "edge": {
        "source": "src from tail",
        "target": "dst dest destination to head",
        "bandwidth": "bw cap capacity weight speed rate throughput gbps",
        "latency_us": "latency latency_ns latency_ms latency_s lat delay delay_us delay_ns delay_ms alpha alpha_us",
    },
}
"""Of each object of a topology file its keys, and what else is written for them; case, `-` and `_` do not count."""

_UNITS = {"bandwidth": ", in the network's bandwidth_unit", "latency_us": ", in microseconds"}
_LIKENESS = 0.8
"""From 0 to 1, how much a misspelt key has in common with the right one: `knd` and `bandwith` have more."""


class KeysOf(Enum):
    """An object of a topology file."""

    DOCUMENT = "document"
    GRAPH = "graph"
    NODE = "node"
    EDGE = "edge"

    def mistakes(self, present: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield each key of `present` that looks like a known key which is missing there, and that known key."""
        known = _KEYS[self.value]
        for key in present:
            if key not in known:
                meant = _meant(self.value, key)
                if meant is not None and meant not in present:
                    yield key, meant

    def mistake(self, present: Mapping[str, object], missing: str | None = None) -> str | None:
        """Return in words the first key of `present` that looks like a mistake and how to fix it, or None.

        Args:
            present: the object.
            missing: a key that the object must have; only what looks like that key counts then.

        Example:
            >>> KeysOf.NODE.mistake({"id": 3, "type": "switch"})
            'has no "kind" but has "type"; rename "type" to "kind", or give both'
        """
        for key, meant in self.mistakes(present):
            if missing is None or meant == missing:
                keep = ", or give both" if missing is None else ""
                return f'has no "{meant}" but has "{key}"; rename "{key}" to "{meant}"{_UNITS.get(meant, "")}{keep}'
        return None


@lru_cache(maxsize=1024)
def _meant(which: str, key: object) -> str | None:
    """Return the known key that the unknown `key` looks like, or None."""
    import difflib

    if not isinstance(key, str):  # of a networkx graph
        return None
    spelled = {_plain(name): known for known, others in _KEYS[which].items() for name in (known, *others.split())}
    plain = _plain(key[:60])
    if plain in spelled:
        return spelled[plain]
    right = {_plain(known): known for known in _KEYS[which]}
    near = difflib.get_close_matches(plain, right, n=1, cutoff=_LIKENESS)
    return right[near[0]] if near else None


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")
