"""The student's loop: what is solved, what comes next, what changed on disk.

It stands on `grading`; `cli` may import it.
"""
