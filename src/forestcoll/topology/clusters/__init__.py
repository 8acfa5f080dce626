"""Builders of clusters, one a file: clusters of any box, and published systems; `registry` finds them."""
