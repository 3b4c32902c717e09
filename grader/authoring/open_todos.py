"""What a scaffold leaves to its author: each place that still says so, with its line.

`grader new` writes `TODO(author): what to do`. A plain `TODO` in a solution is the students'.
"""

import re
from collections.abc import Iterator

from grader.course.course import MANIFEST, Course

TODO = re.compile(r"TODO\(author\):?\s*(?P<what>.*?)(?:\"\"\"|\",?)?$")


def todos_are_done(course: Course) -> Iterator[str]:
    """Nothing that a scaffold leaves to its author is still to be done."""
    files = [course.root / MANIFEST]
    for assignment in course.assignments:
        paths = course.paths(assignment)
        files += [paths.solution, paths.visible_checks, paths.hidden_checks]
        files += [paths.misconceptions, paths.hints]
    for path in files:
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        for number, line in enumerate(text.splitlines(), 1):
            if found := TODO.search(line.rstrip()):
                yield f"{course.inner(path)}:{number}: still to be written: {found['what']}"
