"""The public API for authors of checks: `student`, `reference`, `judge`, `draw`.

It stands on `sessions`; checks and all packages above may import it.
"""
