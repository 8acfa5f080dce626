"""Networks from files of other tools: dumps of hosts, fabrics, simulators' inputs, graphs and matrices.

Each importer is one file in a folder below, which `importer` finds. They all fill a `TopologyBuilder` and note what
they ignored and assumed. `reading` is the path from files to a network.
"""
