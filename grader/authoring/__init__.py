"""What authors use: the proof that a course keeps its promises, and the upkeep of translations.

It stands on `release`; `cli` may import it.
"""
