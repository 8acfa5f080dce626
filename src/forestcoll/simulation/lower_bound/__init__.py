"""Lower bounds of the time of programs for data of one size, one a file; `hop_bounds` takes the greatest of them."""
