"""Importers of graphs: node-link JSON, GraphML, GML, lists of edges and neighbours, and SNDlib."""
