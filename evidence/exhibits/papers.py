"""The papers, in the order of the index. A new exhibit is one entry in the list of its paper."""

from exhibits.allreduce_rate import PAPER as ALLREDUCE_RATE
from exhibits.direct_connect import PAPER as DIRECT_CONNECT
from exhibits.findings import PAPER as FINDINGS
from exhibits.forest import PAPER as FOREST
from exhibits.one_port import PAPER as ONE_PORT

PAPERS = (FOREST, DIRECT_CONNECT, ALLREDUCE_RATE, ONE_PORT, FINDINGS)
