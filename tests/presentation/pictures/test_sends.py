from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.comparison import compare
from forestcoll.comparison.curves import schedule_of
from forestcoll.oneport.series.comparison import compare_series
from forestcoll.presentation.pictures.layout import layout_of
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.sends.drawing import crossings_of
from forestcoll.presentation.pictures.sends.picture import story_picture
from forestcoll.presentation.pictures.sends.player import Player
from forestcoll.presentation.pictures.sends.side_by_side import Side, entries_words, side_by_side, story_of_shard
from forestcoll.presentation.pictures.sends.stories import selected_stories, stories_of
from forestcoll.presentation.pictures.svg import text
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology.registry import build_topology


def schedules() -> dict[str, Schedule]:
    found = compare("dgx-a100:boxes=2", baselines=["nccl-ring"], sizes=[])
    return {row.name: schedule_of(row) for row in found.rows}


def test_the_sends_of_a_broadcast_count_from_the_root() -> None:
    for story in stories_of(generate("mi250:boxes=2")):
        assert len(story.sends) == 31
        assert story.shard is not None
        reached = {story.shard: 0}
        for send in story.sends:
            assert send.order == reached[send.path[0]] + 1
            reached[send.path[-1]] = send.order
        assert reached == story.reached


def test_the_sends_of_a_reduce_wait_for_all_inputs() -> None:
    for story in stories_of(generate("hypercube:dim=3", "reduce-scatter")):
        for send in story.sends:
            inputs = [each.order for each in story.sends if each.path[-1] == send.path[0]]
            assert send.order == max(inputs, default=0) + 1


def test_an_allreduce_names_the_phase_of_each_tree() -> None:
    names = [story.name for story in stories_of(generate("ring:nodes=4", "allreduce"))]
    assert names[0] == "reduce, tree 1 of 8, root 0, 1/8 of the data"
    assert names[-1].startswith("broadcast, tree 8 of 8, root")


def test_steps_have_a_story_for_each_step_and_each_shard() -> None:
    schedule = generate(build_topology("torus:dims=4x4"), method="bfb")
    stories = list(stories_of(schedule))
    assert [story.shard for story in stories] == [None] * 4 + list(range(16))
    assert sum(len(story.sends) for story in stories[:4]) == sum(len(phase.transfers) for phase in schedule.phases)
    assert {story.last for story in stories[4:]} == {4}
    assert sum(send.part for send in stories[0].sends) == Fraction(64, 16)


def test_a_series_has_a_story_for_each_tree() -> None:
    schedule = compare_series(build_topology("ring:nodes=5"), 0).schedule()
    stories = list(stories_of(schedule))
    assert len(stories) == len(schedule.trees)
    assert {story.shard for story in stories} == {0}


def test_data_of_a_ring_enters_both_boxes_and_that_of_a_forest_one() -> None:
    found = schedules()
    structure = Structure(found["forestcoll"].topology)
    words = {name: entries_words(story_of_shard(schedule, 0), structure) for name, schedule in found.items()}
    assert words == {
        "forestcoll": "2 sends one after the other; this part of the data goes once into box 1",
        "nccl-ring": "15 sends one after the other; this part of the data goes once into box 0 and once into box 1",
    }


def test_arrows_of_one_line_are_drawn_once_with_their_number() -> None:
    schedule = schedules()["forestcoll"]
    layout = layout_of(schedule.topology)
    story = story_of_shard(schedule, 0)
    crossings = crossings_of(story, layout)
    assert sum(len(each.orders) for each in crossings) == sum(len(send.path) - 1 for send in story.sends)
    assert len({(each.source, each.target) for each in crossings}) == len(crossings)
    assert ">7x</text>" in text(story_picture(schedule.topology, story))


def test_each_node_has_a_story_before_any_node_has_two() -> None:
    schedule = generate("dgx-a100:boxes=2")
    stories, are_all = selected_stories(schedule, 16)
    assert sorted(story.shard or 0 for story in stories) == list(range(16))
    assert not are_all
    assert selected_stories(schedule, 1000) == (tuple(stories_of(schedule)), True)


def test_a_player_has_the_data_of_all_its_stories() -> None:
    schedule = generate("ring:nodes=4")
    stories = tuple(stories_of(schedule))
    player = Player(schedule.topology, layout_of(schedule.topology), stories)
    assert player.data().count('"name"') == 8
    assert text(player.picture()).count("data-wire") == 8


def test_schedules_of_different_networks_are_refused() -> None:
    left, right = Side(generate("ring:nodes=4"), "a"), Side(generate("ring:nodes=5"), "b")
    with pytest.raises(InputError, match="different networks"):
        side_by_side(left, right, title="two rings")


def test_a_node_that_is_the_root_of_no_tree_is_refused() -> None:
    with pytest.raises(InputError, match="no tree of the schedule has the root 1; choose the root of a tree"):
        story_of_shard(generate("ring:nodes=4", "broadcast:root=0"), 1)


def test_data_that_enters_many_boxes_is_counted_together() -> None:
    schedule = generate("dgx-a100:boxes=5")
    words = entries_words(story_of_shard(schedule, 0), Structure(schedule.topology))
    assert words.endswith("; this part of the data goes into 4 boxes, together 4 times")
