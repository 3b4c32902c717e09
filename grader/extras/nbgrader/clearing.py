"""Clears solutions when nbgrader makes what students receive: each exercise has its own stub.

nbgrader's own preprocessor knows one stub text per course. The configuration that
`grader release --to nbgrader` writes puts this one in its place.
"""

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from grader.course.course import Assignment
from grader.release.solution_cells import SolutionCell, cleared


class ClearOurSolutions(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader is not typed in full
    """Replaces solution regions by the sentences of our stubs."""

    def preprocess_cell(
        self, cell: Any, resources: dict[str, Any], cell_index: int
    ) -> tuple[Any, dict[str, Any]]:
        """Clear one cell, if it is an answer cell.

        Args:
            cell: of the source notebook.
            resources: nbgrader's; it names the assignment.
            cell_index: not needed.
        """
        del cell_index
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and marks.get("solution"):
            assignment = Assignment(resources["nbgrader"]["assignment"], "", ())
            cell.source = cleared(assignment, SolutionCell("code", cell.source, marks["grade_id"]))
        return cell, resources
