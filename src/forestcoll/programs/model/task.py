"""The task of a program: the content of the buffers before and after.

The contribution of rank r to chunk i of the data is an *atom* (r, i). A chunk of a buffer holds a sum of atoms. At the
start each chunk of an input holds one atom, and at the end the outputs must hold what the task says. Shards are in the
order of the ranks: the shard of rank r begins at chunk b(r), the sum of the shards before it.
"""

from enum import StrEnum


class Task(StrEnum):
    """The collective of a program with n ranks and total data M of `chunks` chunks.

    | task | input of rank r | output of rank r | in place |
    | --- | --- | --- | --- |
    | allgather | its shard | chunk i of all data, from the rank whose shard it is | input is the output from b(r) |
    | reduce-scatter | all chunks | its shard, each chunk summed over all ranks | output is the input from b(r) |
    | allreduce | all chunks | all chunks, each summed over all ranks | the same buffer |
    | broadcast | at the root, all chunks | all chunks of the root | the same buffer |
    | reduce | all chunks | at the root, all chunks, each summed over all ranks | the same buffer |
    | alltoall | all chunks; shard s is for rank s | shard r of each rank, in the order of ranks | the same buffer |
    | sendrecv | all chunks | all chunks of rank r - 1, of rank n - 1 for rank 0 | the same buffer |
    | custom | all chunks | not defined | the same buffer |
    """

    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce-scatter"
    ALLREDUCE = "allreduce"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    ALL_TO_ALL = "alltoall"
    SEND_RECEIVE = "sendrecv"
    CUSTOM = "custom"

    @property
    def has_shards(self) -> bool:
        """Return whether each rank has a part of the data."""
        return self in {Task.ALLGATHER, Task.REDUCE_SCATTER, Task.ALL_TO_ALL}

    @property
    def has_root(self) -> bool:
        """Return whether one rank has all data at the start or at the end."""
        return self in {Task.BROADCAST, Task.REDUCE}

    @property
    def reduces(self) -> bool:
        """Return whether contributions of different ranks are added up."""
        return self in {Task.REDUCE_SCATTER, Task.ALLREDUCE, Task.REDUCE}
