"""Linear programs made exact: HiGHS proposes a basis, and the basis is solved in fractions."""
