"""The files of an answer of `forestcoll design`: the network, its schedule, and pictures."""

from forestcoll.base.progress import Progress
from forestcoll.base.together import written_together
from forestcoll.demand.demand import NodeDemand
from forestcoll.design.asked import Answer, SearchAnswer, SweepAnswer
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
    question = answer.question
    schedule = None if question.output is None else answer.schedule(progress)
    with written_together():
        if question.topology_output is not None:
            write_topology(answer.topology, question.topology_output)
        if schedule is not None and question.output is not None:
            progress.begin("writing")
            write_schedule(schedule, question.output)
        if isinstance(answer, SearchAnswer):
            _draw(answer, progress)


def _draw(answer: SearchAnswer, progress: Progress) -> None:
    if answer.question.plot is not None:
        progress.begin("drawing the frontier")
        write_picture(frontier_plot(answer.frontier, answer.question.published()), answer.question.plot)
    if answer.question.picture is not None:
        progress.begin("drawing the network")
        write_view(View(answer.topology, None, None, NodeDemand()), answer.question.picture)
