"""What students and platforms receive, made from the solutions: stubs, notebooks, recordings, copies.

It stands on `judging`; `authoring`, `gradebook` and `cli` may import it.
"""
