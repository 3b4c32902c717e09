"""Replies by which checks passed in an earlier run, kept on disk: they need not be judged again.

Of each exercise what the first submission replied that was right in it. Those of hidden checks count for
one seed, those of visible checks for every class.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.core.kept import found, keep
from grader.core.records import Visibility
from grader.course.course import Exercise
from grader.course.outcome_parts import everything_of
from grader.judging.answer_cache import AnswerCache
from grader.judging.diagnosis import Recalled, fingerprint
from grader.judging.fixtures import CheckEnvironment
from grader.judging.recordings import opened
from grader.judging.run import Check, CheckRecord
from grader.sandbox.wire import Frame, Packer, Unpacker, encode

KIND = "answers"
MOST_KEPT = 1024
"""Files that are kept: an exercise of a class has two."""


@dataclass(slots=True)
class KeptAnswers:
    """What the answer cache of a run has from earlier ones, and leaves to later ones.

    Args:
        environment: what checks are called with.
        answers: the answer cache.
        known: the exercises that were looked for, and the parts of them for which there is a file.
    """

    environment: CheckEnvironment
    answers: AnswerCache
    known: dict[tuple[str, ...], bool] = field(default_factory=dict)

    def recall(self, exercise: Exercise, checks: Iterable[Check]) -> None:
        """Have the answer cache know what was kept of an exercise's checks."""
        for part in _parts(checks):
            name = tuple(check.id for check in part)
            if name not in self.known:
                content = found(KIND, self._depends_on(exercise, part))
                self.known[name] = content is not None
                if content is not None:
                    read_answers(content, part, self.answers)

    def keep(self, exercise: Exercise, checks: Iterable[Check]) -> None:
        """Keep what is known of the checks of an exercise that a submission has right."""
        for part in _parts(checks):
            name = tuple(check.id for check in part)
            if not self.known.get(name, False):
                self.known[name] = True
                content = written_answers(part, self.answers)
                keep(KIND, self._depends_on(exercise, part), content, most=MOST_KEPT)

    def _depends_on(self, exercise: Exercise, checks: tuple[Check, ...]) -> object:
        course, seed = self.environment.course, self.environment.seed
        is_drawn = checks[0].visibility is Visibility.HIDDEN
        return [
            [check.id for check in checks],
            seed if is_drawn else "",
            torch.backends.cpu.get_cpu_capability(),
            everything_of(course, course.by_id[exercise.assignment]),
        ]


def _parts(checks: Iterable[Check]) -> Iterator[tuple[Check, ...]]:
    """The visible checks and the hidden ones, as far as there are some."""
    checks = tuple(checks)
    for visibility in Visibility:
        if part := tuple(check for check in checks if check.visibility is visibility):
            yield part


def written_answers(checks: Iterable[Check], answers: AnswerCache) -> bytes:
    """The replies by which checks pass as bytes, with what a mistake is recognised by."""
    entries: list[Any] = []
    payloads: list[bytes] = []
    for number, check in enumerate(checks):
        for asked, way, record in answers.known(check.id):
            packer = Packer()
            judged = packer.pack([fingerprint(value) for value in record.judged])
            known = sorted(record.not_taken), record.is_drawn
            sizes = [(len(request), digest.hex()) for request, digest in way]
            entries.append([number, asked, sizes, judged, packer.size, *known])
            payloads += [*(request for request, _digest in way), packer.payload()]
    return encode(Frame({"answers": entries}, b"".join(payloads)))


def read_answers(content: bytes, checks: tuple[Check, ...], answers: AnswerCache) -> None:
    """Have an answer cache know what `written_answers` made of the same checks."""
    header, reader = opened(content)
    for number, asked, sizes, judged, size, not_taken, is_drawn in header["answers"]:
        way = [(reader.take(length), bytes.fromhex(digest)) for length, digest in sizes]
        values = Unpacker(reader.take(size)).unpack(judged)
        record = CheckRecord(
            checks[number],
            [Recalled(value) for value in values],
            None,
            not_taken=frozenset(not_taken),
            is_drawn=is_drawn,
        )
        answers.know(checks[number].id, asked, way, record)
