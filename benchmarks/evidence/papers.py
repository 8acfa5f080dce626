"""The papers, in the order of the index. A new exhibit is one entry in the list of its paper."""

from evidence.allreduce_rate import PAPER as ALLREDUCE_RATE
from evidence.direct_connect import PAPER as DIRECT_CONNECT
from evidence.findings import PAPER as FINDINGS
from evidence.forest import PAPER as FOREST
from evidence.one_port import PAPER as ONE_PORT

PAPERS = (FOREST, DIRECT_CONNECT, ALLREDUCE_RATE, ONE_PORT, FINDINGS)
