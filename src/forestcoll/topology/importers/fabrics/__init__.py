"""Importers of descriptions of the network between hosts."""
