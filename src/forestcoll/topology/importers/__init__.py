"""Networks from files of other tools: dumps of hosts, fabrics, simulators' inputs, graphs and matrices.

`formats` has the table of formats, one file each below. They all fill a `TopologyBuilder` and note what they ignored
and assumed.
"""
