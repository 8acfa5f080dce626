"""What is measured: each kind of measurement, and how many steps there are."""

from itertools import combinations, permutations

from forestcoll.measurement.probe.plan import MOST_ALONE, Step, steps_of, tournament


def cluster(hosts: int, ranks: int) -> list[list[int]]:
    return [list(range(host * ranks, (host + 1) * ranks)) for host in range(hosts)]


def pairs_of(steps: list[Step], kind: str) -> list[tuple[int, int]]:
    return [pair for step in steps for sends in step if sends.kind == kind for pair in sends.pairs]


def test_each_two_meet_once_in_a_tournament() -> None:
    for count in range(2, 12):
        rounds = tournament(count)
        assert sorted(pair for pairs in rounds for pair in pairs) == list(combinations(range(count), 2))
        for pairs in rounds:
            ends = [end for pair in pairs for end in pair]
            assert len(ends) == len(set(ends)) == count - count % 2
        assert len(rounds) == count - 1 + count % 2


def test_each_pair_of_a_host_is_measured_alone_and_in_rounds() -> None:
    steps = steps_of([[0, 2, 4, 6], [1, 3, 5, 7]])
    for ranks in ([0, 2, 4, 6], [1, 3, 5, 7]):
        every = sorted(permutations(ranks, 2))
        assert sorted(pair for pair in pairs_of(steps, "pair") if pair[0] in ranks) == every
        assert sorted(pair for pair in pairs_of(steps, "disjoint-pairs") if pair[0] in ranks) == every
    alone = [sends for step in steps for sends in step if sends.kind == "pair"]
    assert all(len(sends.pairs) == 1 for sends in alone)


def test_measurements_of_a_step_share_no_pair_and_no_host() -> None:
    for hosts in (cluster(1, 5), cluster(2, 4), cluster(3, 3), cluster(4, 1), cluster(5, 2), [[0], [1, 2, 3], [4, 5]]):
        host_of = {rank: place for place, ranks in enumerate(hosts) for rank in ranks}
        for step in steps_of(hosts):
            pairs = [pair for sends in step for pair in sends.pairs]
            assert len(pairs) == len(set(pairs))
            assert all(one != other for one, other in pairs)
            for one, other in combinations(step, 2):
                touched = [{host_of[end] for pair in sends.pairs for end in pair} for sends in (one, other)]
                assert not touched[0] & touched[1]


def test_every_rank_sends_and_receives_alone_between_hosts() -> None:
    for hosts in (cluster(2, 3), cluster(3, 2), cluster(4, 2), cluster(5, 1)):
        pairs = pairs_of(steps_of(hosts), "host-pair")
        ranks = [rank for each in hosts for rank in each]
        assert sorted(source for source, _ in pairs) == sorted(target for _, target in pairs) == ranks


def test_all_hosts_send_at_the_same_time_by_each_shift() -> None:
    steps = [step for step in steps_of(cluster(4, 2)) if step[0].kind == "all-hosts"]
    assert [step[0].pairs[0] for step in steps] == [(0, 2), (0, 4), (0, 6)]
    assert all(len(step[0].pairs) == 8 for step in steps)
    large = [step[0].pairs[0] for step in steps_of(cluster(40, 1)) if step[0].kind == "all-hosts"]
    assert large == [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32)]


def test_the_number_of_steps_depends_on_the_ranks_of_a_host_only() -> None:
    counts = [len(steps_of(cluster(hosts, 8))) for hosts in (18, 30)]
    assert counts[0] == counts[1] < 220
    many = len(steps_of(cluster(1, 72)))
    assert many == 72 + 71 + 2 * 72  # pairs of neighbours, rounds, and each rank to all and from all
    assert len(pairs_of(steps_of(cluster(1, MOST_ALONE)), "pair")) == MOST_ALONE * (MOST_ALONE - 1)


def test_hosts_may_have_different_numbers_of_ranks() -> None:
    steps = steps_of([[0, 1, 2], [3]])
    assert pairs_of(steps, "host-pair") == [(0, 3), (3, 0), (1, 3), (2, 3)]
    assert pairs_of(steps, "all-ranks") == [(0, 3), (1, 3), (2, 3), (3, 0)]
    assert pairs_of(steps, "inside-and-outside") == [(0, 1), (0, 3)]
