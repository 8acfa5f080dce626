"""forestcoll: how fast can this network possibly run a collective, and what schedule gets there?

The pipeline, each step a function on frozen values:

    from pathlib import Path
    from forestcoll import generate, load_topology, optimum, verify, write_schedule

    topology = load_topology("dgx-a100:boxes=2")   # a builder, a file, a networkx graph
    best = optimum(topology)                       # the exact bound, and the cut that proves it
    schedule = generate(topology)                  # a forest of spanning trees that reaches it
    assert verify(schedule).ok                     # judged by code that shares nothing with the generator
    write_schedule(schedule, Path("schedule.json"))
"""

import lazy_loader

# `__init__.pyi` declares the public names. Each is imported on first use: the command line must start before NumPy.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
