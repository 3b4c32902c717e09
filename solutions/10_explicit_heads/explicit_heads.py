# %% [markdown]
# # 10. Explicit heads
#
# What is this one for? Nothing new is computed: it is the idea of several heads once more, in
# another notation and without a mask, so that you recognise it in papers and programs. You may do
# it between 08 and 09, as a bridge: first every head by itself, with matrices small enough to
# follow by hand, then all of them in a compact module.
#
# Papers and programs name the same things differently. Here a token has `embed_dim` features
# instead of `d_in`, and the layers are `q_proj`, `k_proj`, `v_proj`. There is one text of four
# tokens, so there is no axis for a batch, and nothing is masked: every token sees every other. That
# is right where a text is complete, as is the source text in translation; a mask is for models that
# continue a text.
#
# Follow a number by hand: the first query scores the first key 1.0277 · 1.0057 + 0.4852 · 0.6135 =
# 1.3312. And keep an eye on shapes: joined along the wrong axis, two heads turn 4 tokens into 8
# rows.
#
# **About 45 minutes, difficulty 2 of 3.** You need assignment 04; 08 helps.
#
# Check your work with `grader check 10`, or in the notebook with the cell below each exercise.

# %% [markdown]
# ![Arrows lead from the tokens to two heads, from both heads to one joined tensor, and from there
# to the output. Each box has its shape.](picture.svg)

# %%
import torch
from torch import Tensor, nn

# The queries and keys of four tokens in one head of two features.
QUERIES = torch.tensor([[1.0277, 0.4852], [0.8772, 0.4506], [0.5097, 0.2065], [0.7879, 0.4787]])
KEYS = torch.tensor([[1.0057, 0.6135], [1.0469, 0.5327], [0.5064, 0.4113], [1.0779, 0.3430]])

# %% [markdown]
# ## Step 1: one head
#
# Scores, softmax, mixture. To keep the numbers easy to follow, the scores of this first version
# are **not** scaled:
#
# $$\text{softmax}(Q K^\top)\, V$$


# %% exercise="head_output"
def head_output(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """What one head makes of its tokens; its scores are not scaled.

    Queries, keys and values stay as they are. Gradients flow to all three.

    Args:
        queries: shape `(num_tokens, head_dim)`.
        keys: shape `(num_tokens, head_dim)`.
        values: shape `(num_tokens, head_dim)`.

    Returns:
        Shape `(num_tokens, head_dim)`: row `i` is the mixture of the values that query `i` asks
        for.

    Example:
        With the identity matrix as values, the output is the weights themselves:

        >>> head_output(QUERIES, KEYS, torch.eye(4)).round(decimals=3)
        tensor([[0.2870, 0.2870, 0.1550, 0.2710],
                [0.2830, 0.2830, 0.1670, 0.2670],
                [0.2680, 0.2690, 0.1990, 0.2630],
                [0.2830, 0.2810, 0.1730, 0.2630]])
    """
    # TODO: scores of all queries with all keys, weights by softmax, mixture of the values.
    ### BEGIN SOLUTION
    scores = queries @ keys.T
    weights = torch.softmax(scores, dim=-1)
    return weights @ values
    ### END SOLUTION


# %% [markdown]
# ## Step 2: join the heads
#
# Every head has its own vector for each token. Joined, they are one longer vector for each token:
# the number of tokens stays, the number of features grows. The output weight then mixes the
# features of all heads.


# %% exercise="join_heads"
def join_heads(head_outputs: list[Tensor], output_weight: Tensor) -> Tensor:
    """The outputs of all heads joined for each token, and mixed by the output weight.

    The heads and the output weight stay as they are. Gradients flow to the output weight.

    Args:
        head_outputs: for each head, shape `(num_tokens, head_dim)`.
        output_weight: shape `(num_heads * head_dim, d_out)`.

    Returns:
        Shape `(num_tokens, d_out)`.

    Example:
        Two heads with a feature each, for three tokens:

        >>> one, other = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[10.0], [20.0], [30.0]])
        >>> join_heads([one, other], torch.eye(2))
        tensor([[ 1., 10.],
                [ 2., 20.],
                [ 3., 30.]])
    """
    # TODO: join the heads so that each token keeps one row, then multiply with the weight.
    ### BEGIN SOLUTION
    # (num_tokens, num_heads * head_dim)
    joined = torch.cat(head_outputs, dim=-1)
    return joined @ output_weight
    ### END SOLUTION


# %% [markdown]
# ## Step 3: all heads in a compact module
#
# One projection makes the queries of all heads, to be cut into heads. `head_dim` is free here:
# the heads together have `num_heads * head_dim` features, and `out_proj` leads back to
# `embed_dim`. This time the scores are scaled, by $\sqrt{\text{head\_dim}}$.


# %% exercise="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """Attention with several heads for a single text, without mask and dropout.

    Args:
        embed_dim: features of a token, and of a context vector.
        head_dim: features of one head.
        num_heads: how many heads.

    Attributes, `nn.Linear` with biases:
        q_proj, k_proj, v_proj: from `embed_dim` to `num_heads * head_dim`; the first `head_dim`
            features are head 0's.
        out_proj: from `num_heads * head_dim` to `embed_dim`.

    Example:
        >>> model = MultiHeadAttention(embed_dim=3, head_dim=2, num_heads=2)
        >>> model(torch.rand(4, 3)).shape
        torch.Size([4, 3])
    """

    def __init__(self, embed_dim: int, head_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: create the four linear layers.
        ### BEGIN SOLUTION
        self.head_dim = head_dim
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.k_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.v_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of all tokens of a text.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(num_tokens, embed_dim)`.

        Returns:
            Shape `(num_tokens, embed_dim)`.
        """
        # TODO: project, cut into heads, scaled scores, softmax, mixture, join, project back.
        ### BEGIN SOLUTION
        num_tokens = x.shape[0]
        by_head = (num_tokens, self.num_heads, self.head_dim)
        # (num_heads, num_tokens, head_dim)
        queries = self.q_proj(x).reshape(by_head).transpose(0, 1)
        keys = self.k_proj(x).reshape(by_head).transpose(0, 1)
        values = self.v_proj(x).reshape(by_head).transpose(0, 1)
        scores = queries @ keys.transpose(1, 2)
        weights = torch.softmax(scores / self.head_dim**0.5, dim=-1)
        contexts = weights @ values
        # (num_tokens, num_heads * head_dim)
        joined = contexts.transpose(0, 1).reshape(num_tokens, -1)
        return self.out_proj(joined)
        ### END SOLUTION
