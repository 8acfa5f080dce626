"""A name for a topology that files and processes can compare: equal networks have equal hashes."""

import hashlib

from forestcoll.base.exact import json_text
from forestcoll.topology.files import topology_to_document
from forestcoll.topology.model import Topology


def topology_hash(topology: Topology) -> str:
    """Return the SHA-256 of the topology's file, without white space at its ends, in hexadecimal digits.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> topology_hash(build_topology("ring:nodes=4"))[:8]
        'db3547eb'
    """
    return hashlib.sha256(json_text(topology_to_document(topology)).encode()).hexdigest()
