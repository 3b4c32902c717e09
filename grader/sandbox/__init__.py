"""All of ours that runs beside student code, and what it needs: the standard library only.

`tensors`, `module_state` and `meter` import torch; the others reach these through `torch_later`, once anybody has
imported torch. The modules import nothing else of ours: that is checked. `sessions` and what stands above
may import them.
"""
