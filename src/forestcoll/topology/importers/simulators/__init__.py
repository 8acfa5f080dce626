"""Importers of the inputs of simulators and synthesizers."""
