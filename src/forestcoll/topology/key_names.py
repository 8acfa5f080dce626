"""Keys of a topology file that look like a mistake: other names for a key of the format, and misspelt keys.

A file may contain additional attributes, which are kept. A misspelt key would become such an attribute, and a node with
`"type": "switch"` would become a GPU. So a key that looks like a key of the format is an error if the key of the format
is missing. If both are present, the other key is an ordinary attribute.
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
"""For each object of a topology file, its keys with other names for them. Case, `-` and `_` are ignored."""

_UNITS = {"bandwidth": ", in the network's bandwidth_unit", "latency_us": ", in microseconds"}
_LIKENESS = 0.8
"""The least similarity, from 0 to 1, of a misspelt key to the correct one; `knd` and `bandwith` exceed it."""


class KeysOf(Enum):
    """An object of a topology file."""

    DOCUMENT = "document"
    GRAPH = "graph"
    NODE = "node"
    EDGE = "edge"

    def mistakes(self, present: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield each key of `present` that looks like a missing key of the format, with the latter."""
        known = _KEYS[self.value]
        for key in present:
            if key not in known:
                meant = _meant(self.value, key)
                if meant is not None and meant not in present:
                    yield key, meant

    def mistake(self, present: Mapping[str, object], missing: str | None = None) -> str | None:
        """Return a message about the first key of `present` that looks like a mistake, or None.

        Args:
            present: the object.
            missing: a required key; then only keys that look like this one are reported.

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

    if not isinstance(key, str):  # possible in a networkx graph
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
