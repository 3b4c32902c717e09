"""What students and platforms receive, made from the solutions: stubs, notebooks, recordings, copies.

It stands on `grading`; `authoring`, `gradebook` and `cli` may import it.
"""
