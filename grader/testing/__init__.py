"""The public API for authors of checks: `student`, `reference`, `judge`, `draw`, and `N_`.

It stands on `sessions`; checks and all packages above may import it.
"""

from grader.core.language import N_

__all__ = ["N_"]
