"""Known machines with the latencies of links and NICs, one a file: to add one, add a file; `registry` finds it."""
