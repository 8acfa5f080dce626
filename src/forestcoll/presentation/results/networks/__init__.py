"""Networks, builders, imports, and networks that the finder found."""
