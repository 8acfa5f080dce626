"""What the formats for simulators share: a file is for one size of the data, and a program has pieces."""

from dataclasses import dataclass
from typing import ClassVar

from forestcoll.base.parameters import DataSize, of_kind
from forestcoll.programs.lowering import Options, Placement, least_instructions
from forestcoll.programs.targets.target import COUNT, Target, chosen
from forestcoll.schedule.schedule import Schedule


@dataclass(frozen=True)
class SimulatorTarget(Target):
    """A format for simulators. A program is out of place, and in pieces, because simulators do not cut data further.

    Attributes:
        pieces_tried: the numbers of pieces; the first one with few enough instructions is used, or 1.
        most_in_pieces: the most instructions of a program in pieces.
    """

    pieces_tried: ClassVar[tuple[int, ...]] = (8, 4, 2)
    most_in_pieces: ClassVar[int] = 400_000

    pieces: int | None = chosen(COUNT, "parts of a chunk that follow each other")
    bytes: int = of_kind(10**9, DataSize(), "the data size M")

    def usual_options(self, schedule: Schedule) -> Options:
        """As `Target.usual_options`.

        Many ranks need fewer pieces, because the shards of all ranks follow each other anyway.
        """
        least = least_instructions(schedule)
        pieces = next((pieces for pieces in self.pieces_tried if pieces * least <= self.most_in_pieces), 1)
        return Options(placement=Placement.OUT_OF_PLACE, pieces=pieces)
