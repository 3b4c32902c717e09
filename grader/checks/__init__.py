"""Collecting checks with pytest, running them, recordings, remembered answers.

It stands on `feedback`; `grading` and all packages above may import it.
"""
