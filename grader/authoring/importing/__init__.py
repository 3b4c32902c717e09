"""Notebooks written for other graders as assignments of a course: `grader import`.

A module for each format (`otter`, `nbgrader`) reads a notebook into `records`; `gaps` makes cells
with solution regions of its code, `drafts` checks of its tests, `outline` both together, and `write`
the files.
"""
