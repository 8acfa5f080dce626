"""The files of an answer of `forestcoll design`: the network, its schedule, and pictures."""

from forestcoll.base.progress import Progress
from forestcoll.base.together import written_together
from forestcoll.demand.demand import NodeDemand
from forestcoll.design.asked import Answer, JobAnswer, SearchAnswer, SweepAnswer
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.results.networks.frontier_plot import frontier_plot
from forestcoll.presentation.view.view import View, write_view
from forestcoll.schedule.files import write_schedule
from forestcoll.topology import write_topology


def write_design(answer: Answer, progress: Progress) -> None:
    """Write the files that the question names, all of them or none.

    Raises:
        InputError: a file cannot be written.
    """
    if isinstance(answer, SweepAnswer):
        return
    files = answer.question.output
    schedule = None if isinstance(answer, JobAnswer) or "schedule" not in files else answer.schedule(progress)
    with written_together():
        if "topology" in files:
            write_topology(answer.topology, files["topology"])
        if schedule is not None:
            progress.begin("writing")
            write_schedule(schedule, files["schedule"])
        if isinstance(answer, SearchAnswer | JobAnswer):
            _draw(answer, progress)


def _draw(answer: SearchAnswer | JobAnswer, progress: Progress) -> None:
    files = answer.question.output
    if "plot" in files and isinstance(answer, SearchAnswer):
        progress.begin("drawing the frontier")
        write_picture(frontier_plot(answer.frontier, answer.question.published()), files["plot"])
    if "picture" in files:
        progress.begin("drawing the network")
        write_view(View(answer.topology, None, None, NodeDemand()), files["picture"])
