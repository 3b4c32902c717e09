"""All of ours that runs beside student code: frames, loader, servant, processes, seal.

It imports the standard library and torch, and nothing else of ours: that is checked. `sessions` and
what stands above may import it.
"""
