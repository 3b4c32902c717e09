"""nbgrader's gradebook, filled from results; the only package that imports nbgrader.

It imports `release`; `cli` may import it.
"""
