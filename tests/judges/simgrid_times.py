"""Runs in a Python with SimGrid: reads links and rounds of flows from standard input, and prints when each round ends.

A document is `{"links": [bytes/s, ...], "rounds": [[[bytes, [link, ...]], ...], ...]}`. All flows of a round begin when
the round before has ended, and share links by SimGrid's max-min model, without latencies, its factors for TCP, and its
traffic of acknowledgements.
"""

import json
import sys

import simgrid

OPTIONS = (
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:0",
)


def main() -> None:
    """Simulate the document on standard input."""
    asked = json.load(sys.stdin)
    engine = simgrid.Engine([sys.argv[0], *(f"--cfg={option}" for option in OPTIONS), "--log=root.thres:error"])
    is_new = hasattr(simgrid.NetZone, "add_netzone_full")  # in 4.1; 3.32 has other names
    zone = engine.netzone_root.add_netzone_full("zone") if is_new else simgrid.NetZone.create_full_zone("zone")
    new_host, new_link = (zone.add_host, zone.add_link) if is_new else (zone.create_host, zone.create_link)
    links = [new_link(f"l{number}", float(each)) for number, each in enumerate(asked["links"])]
    for each in links:
        each.set_latency(0)
    hosts = {}
    for place, flows in enumerate(asked["rounds"]):
        for number, (_, route) in enumerate(flows):
            ends = [new_host(f"{end}{place}.{number}", 1e9) for end in "st"]
            hosts[place, number] = ends
            through = [simgrid.LinkInRoute(links[each]) for each in route]
            symmetrical = False
            points = ends if is_new else [*(end.netpoint for end in ends), None, None]
            zone.add_route(*points, through, symmetrical)
    times: list[float] = []

    def run() -> None:
        for place, flows in enumerate(asked["rounds"]):
            sent = [
                simgrid.Comm.sendto_async(*hosts[place, number], int(size)) for number, (size, _) in enumerate(flows)
            ]
            for each in sent:
                each.wait()
            times.append(simgrid.Engine.clock)

    new_host("main", 1e9)
    zone.seal()
    main_host = simgrid.Host.by_name("main")
    if is_new:
        main_host.add_actor("main", run)
    else:
        simgrid.Actor.create("main", main_host, run)
    engine.run()
    print(json.dumps({"version": simgrid.simgrid_version, "times": times}))


if __name__ == "__main__":
    main()
