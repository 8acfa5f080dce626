"""Importers of descriptions of one host: its GPUs, the links between them, and its network cards."""
