"""Weighted edge colouring of a bipartite graph: divide jobs between ports into matchings (Lemma 1, Theorem 6).

A job occupies one sender and one receiver for a time. Let T be the time for which the busiest port is needed. A
sequence of matchings does all jobs in the time T (König; Schrijver, *Combinatorial Optimization*, chapter 20). A port
is tight if it is needed for all of the remaining time. Each matching covers every tight port. It lasts until one of its
jobs is done or another port becomes tight. In both cases the remaining work lies on a smaller face of the polytope of
fractional matchings. The dimension of the polytope is at most |E| - 1, so there are at most |E| matchings.

Cost: one augmenting path, O(|E|), for each port that loses its job or becomes tight. Times are integers.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from forestcoll.base.errors import InternalError


@dataclass(frozen=True, slots=True)
class PortTask:
    """Work between a sending and a receiving port. `time` is a positive integer. Each side has its own numbers."""

    sender: int
    receiver: int
    time: int


@dataclass(frozen=True, slots=True)
class Matching:
    """Jobs that run at the same time, by index, and the time for which they run."""

    time: int
    jobs: tuple[int, ...]


def matchings(jobs: Sequence[PortTask]) -> list[Matching]:
    """Return matchings that do all `jobs` in the least time. There are at most as many matchings as jobs."""
    state = _State(jobs)
    found = []
    while state.total:
        state.cover_tight_ports()
        time = state.step()
        found.append(Matching(time, tuple(sorted(state.matched))))
        state.work(time)
    return found


class _State:
    """The remaining jobs and a matching of them. Receiving port p is node `senders + p`."""

    def __init__(self, jobs: Sequence[PortTask]) -> None:
        senders = 1 + max((job.sender for job in jobs), default=-1)
        receivers = 1 + max((job.receiver for job in jobs), default=-1)
        self._ends = [(job.sender, senders + job.receiver) for job in jobs]
        self._left = [job.time for job in jobs]
        self._jobs: list[list[int]] = [[] for _ in range(senders + receivers)]
        self._load = [0] * (senders + receivers)
        for place, ends in enumerate(self._ends):
            for port in ends:
                self._jobs[port].append(place)
                self._load[port] += self._left[place]
        self._job_of: list[int | None] = [None] * (senders + receivers)
        self.total = max(self._load, default=0)

    @property
    def matched(self) -> set[int]:
        """The jobs of the matching."""
        return {job for job in self._job_of if job is not None}

    def cover_tight_ports(self) -> None:
        """Change the matching so that it covers every tight port."""
        for port, load in enumerate(self._load):
            if load == self.total and self._job_of[port] is None:
                self._cover(port)

    def _cover(self, start: int) -> None:
        """Flip an alternating path from `start` to a free port, or to a port that need not be covered.

        Such a path exists by the theorem of Mendelsohn and Dulmage.
        """
        came_by: dict[int, int] = {}
        seen = {start}
        queue = deque([start])
        while queue:
            port = queue.popleft()
            for job in sorted(self._jobs[port], key=lambda each: (-self._left[each], each)):
                across = self._other_end(job, port)
                if across in seen:
                    continue
                seen.add(across)
                came_by[across] = job
                back = self._job_of[across]
                if back is None:
                    self._flip(start, across, came_by)
                    return
                beyond = self._other_end(back, across)
                seen.add(beyond)
                came_by[beyond] = back
                if self._load[beyond] < self.total:
                    self._job_of[beyond] = None
                    self._flip(start, across, came_by)
                    return
                queue.append(beyond)
        raise InternalError("no matching covers all tight ports")

    def _other_end(self, job: int, port: int) -> int:
        one, other = self._ends[job]
        return other if port == one else one

    def _flip(self, start: int, end: int, came_by: dict[int, int]) -> None:
        """Swap matched and unmatched jobs along the path to `end`."""
        port = end
        while True:
            job = came_by[port]
            before = self._other_end(job, port)
            self._job_of[port] = self._job_of[before] = job
            if before == start:
                return
            port = self._other_end(came_by[before], before)

    def step(self) -> int:
        """Return the time for which the matching can run."""
        shortest = min(self._left[job] for job in self.matched)
        waiting = (self.total - load for port, load in enumerate(self._load) if self._job_of[port] is None)
        return min(shortest, min(waiting, default=shortest))

    def work(self, time: int) -> None:
        """Run the jobs of the matching for `time`, and remove finished jobs from the matching."""
        for job in self.matched:
            self._left[job] -= time
            for port in self._ends[job]:
                self._load[port] -= time
                if not self._left[job]:
                    self._job_of[port] = None
                    self._jobs[port].remove(job)
        self.total -= time
