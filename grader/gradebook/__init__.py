"""nbgrader's gradebook, filled from results; the only part of the kit that imports nbgrader."""
