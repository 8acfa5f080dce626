from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from forestcoll.oneport.series.coloring import Job, matchings
from networks import examples

PORTS = st.integers(0, 6)
TIMES = st.one_of(st.just(1), st.integers(1, 5), st.integers(1, 10**30))
JOBS = st.lists(st.builds(Job, PORTS, PORTS, TIMES), max_size=30)


@given(JOBS)
@examples(200)
def test_all_work_is_done_in_the_least_time_by_few_matchings(jobs: list[Job]) -> None:
    found = matchings(jobs)
    done: Counter[int] = Counter()
    for matching in found:
        assert matching.time > 0
        assert len({jobs[job].sender for job in matching.jobs}) == len(matching.jobs)
        assert len({jobs[job].receiver for job in matching.jobs}) == len(matching.jobs)
        done.update(dict.fromkeys(matching.jobs, matching.time))
    assert [done[place] for place in range(len(jobs))] == [job.time for job in jobs]
    needed: Counter[tuple[str, int]] = Counter()
    for job in jobs:
        needed["sends", job.sender] += job.time
        needed["receives", job.receiver] += job.time
    assert sum(matching.time for matching in found) == max(needed.values(), default=0)
    assert len(found) <= len(jobs)
