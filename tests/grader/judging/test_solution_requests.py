"""What checks ask of the solution, asked of another file: every part of a request names that file."""

from grader.judging.solution_requests import SolutionRequests
from grader.sandbox.together import joined, parted
from grader.sandbox.wire import Frame, decode_header, encode, split

HOW = "01_first/first.py one"
OTHER = 'other "first".py'


def test_requests_that_come_in_one_frame_are_asked_of_the_other_file() -> None:
    """Each of them; what is handed over stays as it is, also where it looks like a file's name."""
    text = '"source":"01_first/first.py"'
    parts = [
        Frame({"verb": "call", "source": "01_first/first.py", "args": [text]}, b"12"),
        Frame({"verb": "call", "source": "01_first/first.py", "args": []}, b"3"),
    ]
    whole = encode(joined(parts, source="01_first/first.py"))
    asked = SolutionRequests("01_first/first.py", HOW, {"check": (whole,)})
    (request,) = asked.of(OTHER, HOW.replace("01_first/first.py", OTHER))["check"]
    ((header, payload),) = split(request)
    frame = Frame(decode_header(header), payload)
    assert [part.header["source"] for part in (frame, *parted(frame))] == [OTHER] * 3
    assert [part.header["args"] for part in parted(frame)] == [[text], []]
    assert [part.payload for part in parted(frame)] == [b"12", b"3"]
