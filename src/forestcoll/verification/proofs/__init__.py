"""The judges of proofs: each kind of proof is checked by addition, without the code of `forestcoll.proof`."""
