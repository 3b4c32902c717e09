"""Collecting checks with pytest, running them, recordings, remembered replies.

It stands on `feedback`; `grading` and all packages above may import it.
"""
