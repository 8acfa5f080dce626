"""Importers of measured bandwidths between all pairs."""
