"""What is asked of the network."""

from enum import StrEnum


class Collective(StrEnum):
    """A collective operation, by the name that files and the command line use."""

    ALLGATHER = "allgather"
    """Every compute node ends with the shards of all: N shards of M/N, M being the size of the gathered vector."""
