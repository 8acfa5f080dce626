"""Proofs by lengths of links."""
