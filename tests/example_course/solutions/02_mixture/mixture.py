# %% [markdown]
# # 2. Mixtures
#
# What the scores are good for.

# %%
import torch
from scores import scores
from torch import Tensor, nn


# %% exercise="weights"
def weights(raw: Tensor) -> Tensor:
    """Scores as weights that sum to 1.

    Args:
        raw: shape `(num_queries, num_keys)`.

    Returns:
        The same shape; each row sums to 1.
    """
    # TODO: a softmax along each row.
    ### BEGIN SOLUTION
    return torch.softmax(raw, dim=-1)
    ### END SOLUTION


# %% exercise="Mixture"
class Mixture(nn.Module):
    """Mixes values by how well their keys fit.

    Args:
        d_in: the size of a token.
        d_out: the size of queries, keys and values.
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        # TODO: create the linear layers W_query, W_key and W_value, without biases.
        ### BEGIN SOLUTION
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """The mixture for each token.

        Args:
            x: shape `(num_tokens, d_in)`.

        Returns:
            Shape `(num_tokens, d_out)`.
        """
        # TODO: scores, weights, mixture.
        ### BEGIN SOLUTION
        raw = scores(self.W_query(x), self.W_key(x))
        return weights(raw) @ self.W_value(x)
        ### END SOLUTION
