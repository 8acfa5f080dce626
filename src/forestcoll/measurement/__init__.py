"""Measures real machines: schedules (`bench/`), links (`probe/`), and the costs that explain the times (`fit/`)."""
