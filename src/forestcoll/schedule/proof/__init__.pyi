# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .bound import Bound as Bound
from .cut import CutProof as CutProof
from .documents import proof_from_document as proof_from_document
from .lengths.group_lengths import GroupLengthsProof as GroupLengthsProof
from .lengths.lengths import LengthsProof as LengthsProof
from .lengths.tree_distances import TreeDistancesProof as TreeDistancesProof
from .lengths.tree_lengths import TreeLengthsProof as TreeLengthsProof
from .partition import PartitionProof as PartitionProof
from .prices import PricesProof as PricesProof
from .proof import Proof as Proof
from .proof import ProofError as ProofError
from .proof import proof_document as proof_document
from .receipt import ReceiptProof as ReceiptProof
from .tree_dual import TreeDualProof as TreeDualProof
from .tree_dual import WeightedCut as WeightedCut
