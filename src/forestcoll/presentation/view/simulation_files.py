"""The files of `forestcoll simulate`: tables, and pictures of the times and of the run of the program."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from forestcoll.base.files import write_text
from forestcoll.base.together import written_together
from forestcoll.presentation.results.programs.program_plot import draw_gantt
from forestcoll.presentation.results.schedules.simulation import plot_of, run_title
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import Costs, Point
from forestcoll.simulation.simulate import ProgramModel, loads_of
from forestcoll.simulation.tables import chrome_trace, links_csv, points_csv


def write_simulation(
    schedule: Schedule, costs: Costs, points: Sequence[Point], algbw: float, files: Mapping[str, Path]
) -> None:
    """Write the files that are asked for, all of them or none.

    Args:
        schedule: the schedule that was simulated.
        costs: the costs of the simulation.
        points: the result for each size; links, gantt and trace are about the last one.
        algbw: the algbw for large messages, in the unit of the network.
        files: the file of each kind: table, plot, links, gantt, trace.

    Raises:
        InputError: a file cannot be written.
    """
    with written_together():
        if "table" in files:
            write_text(files["table"], points_csv(points, schedule.topology.bandwidth_unit))
        if "plot" in files:
            plot_of(schedule, points, algbw, files["plot"])
        if "links" in files:
            write_text(files["links"], links_csv(loads_of(schedule), points[-1]))
        if "gantt" in files or "trace" in files:
            _write_run(schedule, costs, points[-1].size, files)


def _write_run(schedule: Schedule, costs: Costs, size: int, files: Mapping[str, Path]) -> None:
    """Simulate the program of the schedule for one size, and write the activity of its thread blocks."""
    model = ProgramModel(schedule, costs)
    pieces = model.point(size).pieces
    timeline, program = model.run(size, pieces), model.program(pieces)
    if "gantt" in files:
        draw_gantt(program, timeline, run_title(schedule, size, pieces), files["gantt"])
    if "trace" in files:
        write_text(files["trace"], chrome_trace(program, timeline))
