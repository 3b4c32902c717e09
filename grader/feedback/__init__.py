"""From a failure to words, pictures and a mistake's name. Pure.

It stands on `testing`; `checks` and all packages above may import it.
"""
