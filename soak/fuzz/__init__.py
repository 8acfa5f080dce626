"""Machines that look for faults: seeds, mutations that know the format, commands, readers, and the judge of a run."""
