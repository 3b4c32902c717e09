"""Renderings of one result record: for people, for platforms, for gradebooks."""
