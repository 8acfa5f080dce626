"""Exact solutions of linear programs: HiGHS proposes a basis in floating point, which is then solved in fractions."""
