"""Verification of bundles: each member by the rules of its kind, then the loads of all members together."""
