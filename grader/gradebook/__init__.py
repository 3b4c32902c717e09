"""nbgrader's gradebook, filled from results; the only package that imports nbgrader.

It stands on `release`; `cli` may import it.
"""
