"""What all rooms use and what knows nothing of networks: files, exact numbers, units, errors, progress."""
