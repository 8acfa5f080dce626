"""The calls of a process group: which way each goes, and its handle."""
