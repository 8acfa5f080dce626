"""The hosts of a network as topology files, from which NCCL makes its table on any machine.

The files are those for NCCL_TOPO_FILE (`nccl/topology_file.py`) with the numbers that a job adds to them: the rank of
each GPU, and for NCCL 2.32 the rail of each NIC, one for each.
"""

import re
from dataclasses import dataclass
from itertools import count

from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError
from forestcoll.nccl.topology_file import texts_of

_GPU = re.compile(r'<gpu dev="(\d+)"')


@dataclass(frozen=True)
class HostFiles:
    """The topology files of the kinds of hosts of a network, and what they do not say.

    Attributes:
        texts: the content of each file.
        nvls: whether the NVSwitch adds up and copies data.
    """

    texts: tuple[str, ...]
    nvls: bool

    @property
    def gpus(self) -> int:
        """The number of GPUs of a host."""
        return self.texts[0].count("<gpu ")

    @property
    def capability(self) -> int:
        """The compute capability of the GPUs, times 10."""
        return int(self.texts[0].partition(' sm="')[2].partition('"')[0])

    @property
    def is_amd(self) -> bool:
        """Whether the CPUs are AMD's."""
        return 'vendor="AuthenticAMD"' in self.texts[0]


def host_files(problem: Problem) -> tuple[HostFiles, int]:
    """Return the files of the kinds of hosts of a problem, and the number of hosts.

    Raises:
        DoesNotApplyError: the hosts are not known (`texts_of`), or share NVLink; some GPUs of a host take no part; or
            hosts have different numbers of GPUs.
    """
    topology = problem.topology
    problem.require_boxes()
    if len(problem.members) < len(topology.compute):
        raise DoesNotApplyError("NCCL's table of a part of the GPUs of a host is not known")
    if "nvl72" in topology.name.lower():
        raise DoesNotApplyError("the hosts of a rack share NVLink, and NCCL's table of such a job is not known")
    if len({len(box) for box in problem.boxes.members}) > 1:
        raise DoesNotApplyError("hosts have different numbers of GPUs, and NCCL's table of such a job is not known")
    try:
        texts = [numbered(text) for text in texts_of(topology).values()]
    except InputError as error:
        raise DoesNotApplyError(f"the network {str(error).removeprefix(f'{topology.name}: ')}") from None
    able = [switch for switch in topology.able_switches if switch in problem.boxes.of]  # not those with SHARP
    nvls = any(topology.nodes[switch].multicast for switch in able)
    return HostFiles(tuple(dict.fromkeys(texts)), nvls), len(problem.boxes.members)


def numbered(text: str) -> str:
    """Return a topology file with the numbers of a job: GPUs have ranks in the order of their numbers."""
    devices = [int(each) for each in _GPU.findall(text)]
    ranks, rails = map(sorted(devices).index, devices), count()
    text = _GPU.sub(lambda found: f'{found[0]} rank="{next(ranks)}"', text)
    return re.sub("<net ", lambda _: f'<net rail="{next(rails)}" plane="0" ', text)
