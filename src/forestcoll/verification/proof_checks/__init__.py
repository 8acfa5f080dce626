"""The judges of proofs: they check each kind of proof by addition, without the code of `forestcoll.proof`."""
