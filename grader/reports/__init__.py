"""Renderings of results: for people, for platforms, for gradebooks' imports. Pure but for writing.

It stands on `grading`; `cli` may import it.
"""
