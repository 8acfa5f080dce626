"""Verifies schedules and checks proofs, one folder or file a kind. It shares no code with what makes them.

A verifier accepts a schedule from any source, and imports only the models. `proof_checks/` checks proofs, and
`verifiers.py` lists the verifier of each kind of schedule.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
