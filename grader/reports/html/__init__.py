"""Feedback pages and the class report: self-contained HTML, from result records."""
