"""A browser for tests of pages."""

from browser import chromium, visit

__all__ = ["chromium", "visit"]
