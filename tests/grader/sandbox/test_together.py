"""Requests that come in one frame: how they are joined, and up to which of them is replied."""

from collections.abc import Iterator
from typing import Any

import pytest

from grader.sandbox.together import has_instances, in_turn, joined, parted
from grader.sandbox.wire import FAILED, PREFIX, Frame, WireFault, encode

FRAMES = [Frame({"verb": "call"}, b"ab"), Frame({"verb": "load"}), Frame({"verb": "state"}, b"c")]
MADE = Frame({"value": {"reference": [3, "module", "one"]}, "output": ""}, b"x")
NOTHING_LEFT = {"report": {"weight": "loaded", "bias": "missing"}, "not_given": []}


def replies_to(frames: list[Frame], *replies: Frame) -> tuple[list[Frame], list[Frame]]:
    """What was asked one by one, and what came back, where these replies come in turn."""
    asked: list[Frame] = []
    coming: Iterator[Frame] = iter(replies)

    def reply_to(frame: Frame) -> Frame:
        asked.append(frame)
        return next(coming)

    return asked, parted(in_turn(joined(frames), reply_to))


def test_frames_come_out_as_they_went_in() -> None:
    """Each with its header and its own bytes."""
    assert parted(joined(FRAMES)) == FRAMES


LIES: list[Any] = [
    None,
    "parts",
    [["a", 0]],
    [[{}, -1]],
    [[{}, 4]],
    [[{}, "1"]],
    [[{}, 2], [{}, 2]],
    [[{}]],
]


@pytest.mark.parametrize("parts", LIES)
def test_parts_that_are_none_are_a_fault(parts: Any) -> None:
    """No byte is given out twice, and none that is not there."""
    with pytest.raises(WireFault):
        parted(Frame({"parts": parts}, b"abc"))


def test_what_follows_is_about_the_instance_that_was_made() -> None:
    """It is sent without a number, and asked with one."""
    asked, replies = replies_to(FRAMES, MADE, Frame(NOTHING_LEFT), Frame({"parameters": {}}))
    assert [frame.header.get("instance") for frame in asked] == [None, 3, 3]
    assert [frame.payload for frame in asked] == [b"ab", b"", b"c"]
    assert replies == [MADE, Frame(NOTHING_LEFT), Frame({"parameters": {}})]


FAILURE = Frame({"failure": {"kind": "exception"}})
MAY_TAKE_A_VALUE = Frame({"report": {"weight": "missing"}, "not_given": ["scale"]})


@pytest.mark.parametrize(
    "replied",
    [
        [FAILURE],
        [Frame({"value": 3})],
        [Frame({"value": {"reference": [0, "class", "one"]}})],
        [Frame({})],
        [MADE, FAILURE],
        [MADE, MAY_TAKE_A_VALUE],
    ],
)
def test_nothing_follows_what_is_no_instance_with_its_values(replied: list[Frame]) -> None:
    """The trusted side says which parameter takes a value, before the instance is called."""
    asked, replies = replies_to(FRAMES, *replied)
    assert (len(asked), replies) == (len(replied), replied)


def test_where_one_fails_the_whole_is_a_failure() -> None:
    """It begins like one, so that nothing of a batch is made after it."""
    replies = iter([MADE, Frame({**FAILURE.header, "output": "o"})])
    whole = in_turn(joined(FRAMES), lambda _frame: next(replies))
    assert encode(whole)[PREFIX.size :].startswith(FAILED)
    assert len(parted(whole)) == 2
    whole = in_turn(joined(FRAMES[:1]), lambda _frame: MADE)
    assert "failure" not in whole.header


def test_instances_that_were_made_before_are_seen_in_a_request() -> None:
    """Also inside of lists and of mappings."""
    node = {"reference": [1, "module", "one"]}
    assert has_instances({"args": [{"list": [node]}]})
    assert has_instances({"kwargs": {"layer": {"dict": [["a", node]]}}})
    assert not has_instances({"args": [1, {"list": ["reference"]}], "name": "reference"})
