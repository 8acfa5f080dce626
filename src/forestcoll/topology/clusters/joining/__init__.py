"""Clusters: copies of one box, joined by leaf, spine and core switches or as a torus."""
