"""The best of all schedules that broadcast one message in equal packets, found by listing the schedules."""

from collections.abc import Sequence

from forestcoll.oneport import Platform


def least_makespan(platform: Platform, times: Sequence[int], packets: int, most: int) -> int:
    """Return the least time to broadcast equal packets on a one-port network without switches, over all schedules.

    Sends are listed in the order of their start. Each starts as early as the sends before it allow, which no optimal
    schedule needs to avoid. The first sends of the packets are in the order of their numbers.

    Args:
        platform: the network with its source.
        times: the time of a packet over each link.
        packets: the number of packets.
        most: the time of a known schedule.
    """
    links, source = platform.topology.links, platform.source
    best = most
    quickest = min(times)

    def search(have: dict[tuple[int, int], int], sending: dict[int, int], receiving: dict[int, int], now: int) -> None:
        nonlocal best
        missing = packets * len(platform.topology.compute) - len(have)
        if not missing:
            best = min(best, max(have.values()))
            return
        begun = len({packet for packet, node in have if node != source})
        for number, link in enumerate(links):
            for packet in range(min(begun + 1, packets)):
                if (packet, link.target) in have or (packet, link.source) not in have:
                    continue
                start = max(have[packet, link.source], sending[link.source], receiving[link.target])
                end = start + times[number]
                behind = sum((each, link.target) not in have for each in range(packets)) - 1
                if start >= now and end + behind * quickest < best:
                    search(
                        have | {(packet, link.target): end},
                        sending | {link.source: end},
                        receiving | {link.target: end},
                        start,
                    )

    idle = dict.fromkeys(platform.topology.compute, 0)
    search({(packet, source): 0 for packet in range(packets)}, idle, idle, 0)
    return best
