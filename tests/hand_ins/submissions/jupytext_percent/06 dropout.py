# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
# ---

# %% [markdown]
# # Dropout

# %%
# %matplotlib inline
# !pip install torch
import torch
import matplotlib.pyplot as plt

# %%
def dropout_scale(p: float) -> float:
    keep = 1.0 - p
    return 1.0 / keep

# %%
def apply_dropout_mask(weights, keep_mask, p):
    out = weights.clone()
    out[keep_mask] = 0
    return out * dropout_scale(p)

# %%
def dropout(weights, p, training):
    if not training or p == 0:
        return weights
    keep = torch.bernoulli(torch.full_like(weights, 1 - p))
    return weights * keep * dropout_scale(p)

# %%
plt.hist(dropout(torch.ones(1000), 0.3, True).numpy())
plt.show()
