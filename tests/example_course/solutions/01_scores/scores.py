# %% [markdown]
# # 1. Scores
#
# How well a query fits each key.

# %%
from torch import Tensor


# %% exercise="scores"
def scores(queries: Tensor, keys: Tensor) -> Tensor:
    """The scaled score of each query with each key.

    Args:
        queries: shape `(num_queries, d_k)`.
        keys: shape `(num_keys, d_k)`.

    Returns:
        Shape `(num_queries, num_keys)`.
    """
    # TODO: multiply queries and keys, and scale the products.
    ### BEGIN SOLUTION
    products = queries @ keys.T
    return products / keys.shape[-1] ** 0.5
    ### END SOLUTION
