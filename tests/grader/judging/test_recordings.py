"""Tests of recordings as files: what is written is read, and damage is told."""

import zlib
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.errors import CourseError
from grader.core.records import Mistake
from grader.course.styles import Style
from grader.judging.diagnosis import Known, Trace, fingerprint
from grader.judging.recordings import FORMAT, Recording, read_recording, write_recording
from grader.sandbox.wire import Frame, encode

MISTAKE = Mistake("scale-forgotten", "The scores are not scaled.", "How large do scores get?")
OTHER = Mistake("mask-thrown-away", "The mask is not used.", "What does it return?")


def known(*mistakes: Mistake) -> Known:
    """How a check goes with these mistakes."""
    judged = (fingerprint(torch.arange(6.0).reshape(2, 3)), True, fingerprint([1, "a", None]))
    traces = {
        "e::visible::a": Trace("mismatch", judged, replied=judged[:1]),
        "e::visible::b": Trace("passed", ()),
    }
    return Known(tuple(mistakes), traces)


RECORDING = Recording(
    source="01_first/first.py",
    names=["one", "Größe"],
    classes={"Layer": [{"cell": None, "line": 7, "parameters": [["d_in", []], ["bias", [False]]]}]},
    transcripts={
        "01_first/one::visible::a": [
            ("shape 1", Frame({"value": {"tensor": ["int8", [3], False, False]}}, b"abc")),
            ("shape 2", Frame({"value": 1})),
            ("shape 3", Frame({"value": {"tensor": ["int8", [2], False, False]}}, b"de")),
        ],
        "01_first/one::visible::b": [],
    },
    known={
        "01_first/one": ([known(MISTAKE), known(OTHER)], [known(MISTAKE, OTHER)]),
        "01_first/two": ([], []),
    },
    hints={"one": ("What is one?", "Look at two.")},
    decided={"01_first/one": 1.5, "01_first/two": 2.0},
    styles={"one": (Style("größer", "def one():\n    return 1", "It is one."),)},
)


def plain(value: Any) -> Any:
    """A recording's parts with tensors as lists, to be compared as a whole."""
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Recording | Known | Trace | Mistake | Frame):
        return [type(value).__name__, *(plain(getattr(value, n)) for n in value.__slots__)]
    return value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a recording lies."""
    return tmp_path / "recording.bin"


def test_what_is_written_is_read(path: Path) -> None:
    """Requests, answers, known mistakes and hints, with every byte of their tensors."""
    path.write_bytes(write_recording(RECORDING))
    assert plain(read_recording(path)) == plain(RECORDING)


def test_the_same_recording_makes_the_same_bytes() -> None:
    """So that a release that changes nothing changes no file."""
    assert write_recording(RECORDING) == write_recording(RECORDING)


def test_a_missing_recording_says_that_the_release_is_incomplete(path: Path) -> None:
    """Its reader can act on that."""
    with pytest.raises(CourseError) as caught:
        read_recording(path)
    assert str(caught.value) == "recording.bin is missing; the release is incomplete"


def test_another_format_is_named(path: Path) -> None:
    """A recording of an older or newer kit."""
    path.write_bytes(zlib.compress(encode(Frame({"format": "grader-kit/recording/9"}))))
    with pytest.raises(CourseError) as caught:
        read_recording(path)
    assert str(caught.value) == (
        "recording.bin is damaged (its format is 'grader-kit/recording/9'); get the release again"
    )


DATA = write_recording(RECORDING)


def is_damaged(folder: Path, data: bytes) -> bool:
    """Whether a file of these bytes is told as damaged; any other exception goes on."""
    path = folder / "recording.bin"
    path.write_bytes(data)
    try:
        read_recording(path)
    except CourseError as error:
        text = str(error)
        return text.startswith("recording.bin is damaged (") and text.endswith(
            "); get the release again"
        )
    return False


@pytest.mark.parametrize("length", [0, 1, 2, 10, len(DATA) // 2, len(DATA) - 8, len(DATA) - 1])
def test_a_recording_that_breaks_off_is_damaged(tmp_path: Path, length: int) -> None:
    """Wherever a download ended, down to the last byte."""
    assert is_damaged(tmp_path, DATA[:length])


@settings(max_examples=100)
@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_a_recording_with_one_byte_changed_is_damaged(
    tmp_path_factory: pytest.TempPathFactory, position: int, change: int
) -> None:
    """Or reads as it was written: some bytes of the compression mean nothing."""
    folder = tmp_path_factory.mktemp("changed")
    data = bytearray(DATA)
    data[position] ^= change
    if not is_damaged(folder, bytes(data)):
        assert plain(read_recording(folder / "recording.bin")) == plain(RECORDING)


WHOLE = {"format": FORMAT, "source": "a", "names": [], "traces": {}, "known": {}, "hints": {}}


@pytest.mark.parametrize(
    "header",
    [
        *({}, {"format": FORMAT}),
        *({**WHOLE, "traces": [1]}, {**WHOLE, "traces": 5}, {**WHOLE, "traces": {"a": 5}}),
        *({**WHOLE, "traces": {"a": [["s", {}]]}}, {**WHOLE, "traces": {"a": [["s", {}, "x"]]}}),
        *({**WHOLE, "traces": {"a": [["s", {}, 9]]}}, {**WHOLE, "traces": {"a": [["s", {}, -1]]}}),
        *({**WHOLE, "known": [1]}, {**WHOLE, "known": {"a": [[], []], "b": 5}}),
        *({**WHOLE, "known": {"a": [[[[{"id": "x"}], []]], []]}}, {**WHOLE, "hints": 5}),
        {**WHOLE, "known": {"a": [[[[], [["c", "passed", {"tensor": 1}, 0]]]], []]}},
    ],
    ids=str,
)
def test_a_recording_whose_header_is_none_is_damaged(
    tmp_path: Path, header: dict[str, Any]
) -> None:
    """Each part missing or of another kind, and pieces that are not there."""
    assert is_damaged(tmp_path, zlib.compress(encode(Frame(header, b"1234"))))


@pytest.mark.parametrize("data", [b"", b"\x00" * 7, b"\x00\x00\xff\xff\x00\x00\x00\x00{}", b"text"])
def test_a_recording_that_holds_no_frame_is_damaged(tmp_path: Path, data: bytes) -> None:
    """Although it can be decompressed."""
    assert is_damaged(tmp_path, zlib.compress(data))
