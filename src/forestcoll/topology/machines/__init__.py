"""Known machines, one a file, with bandwidths and the latencies of links and NICs; `registry` finds them."""
