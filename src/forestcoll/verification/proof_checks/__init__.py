"""The checks of proofs: each kind of proof is checked by addition, with no algorithm of `forestcoll.schedule.proof`."""
