# %% [markdown]
# # 8. Several heads side by side
#
# A **head** is one attention layer with its own matrices for queries, keys and values. It has one
# way of looking: a token can ask for only one thing at a time. Several heads look at the same
# tokens, each with weights of its own, and each finds something different. What they find is put
# side by side.
#
# Why is one head not enough? The weights of a token sum to 1: what it gives to one token it takes
# from another. If it needs two of them, a single head hands it a mixture in which the two cannot
# be told apart. Two heads can look at one each.
#
# Even before any training two heads look differently. With seed 123, the last word, "step", gives
# its largest weight to "journey" in the first head, 0.1709, and to "one" in the second, 0.1758.
#
# The price: every head has three matrices, two heads with `d_in` 3 and `d_out` 2 have 36 numbers,
# and the heads wait for each other. Assignment 09 does away with the waiting.
#
# **About 20 minutes, difficulty 1 of 3.** You need your own `CausalAttention` of assignment 07.

# %% [markdown]
# ```text
# Two heads look at the same words, each in its own way
#
# The words
# Your    0.43  0.15  0.89
# journey 0.55  0.87  0.66
# starts  0.57  0.85  0.64
# with    0.22  0.58  0.33
# one     0.77  0.25  0.10
# step    0.05  0.80  0.55
#           each head is a CausalAttention with matrices of its own
#                                      ↓
# Context, 2 features                    Context, 2 features
#     first head                            second head
#  −0.45   0.22                            0.48   0.11
#  −0.59   0.01                            0.59   0.33
#  −0.63  −0.06                            0.62   0.39
#  −0.57  −0.08                            0.55   0.36
#  −0.55  −0.10                            0.53   0.34
#  −0.53  −0.11                            0.51   0.35
#                       side by side, along the features
#                                      ↓
# Context, 4 features
#            first head   second head
# Your    −0.45   0.22   0.48   0.11
# journey −0.59   0.01   0.59   0.33
# starts  −0.63  −0.06   0.62   0.39
# with    −0.57  −0.08   0.55   0.36
# one     −0.55  −0.10   0.53   0.34
# step    −0.53  −0.11   0.51   0.35
#
# Nothing is added up: the first two features are the first head's, the others
# the second's.
# ```

# %%
# Finds your own assignment 07 when this file is run by itself.
if __name__ == "__main__":
    from grader.notebook import use_own

    use_own("07_causal_attention")

# %%
import torch
from causal_attention import CausalAttention
from torch import Tensor, nn

# "Your journey starts with one step": a row for each word.
INPUTS = torch.tensor(
    [
        [0.43, 0.15, 0.89],  # Your
        [0.55, 0.87, 0.66],  # journey
        [0.57, 0.85, 0.64],  # starts
        [0.22, 0.58, 0.33],  # with
        [0.77, 0.25, 0.10],  # one
        [0.05, 0.80, 0.55],  # step
    ]
)

# %% [markdown]
# ## The heads are yours
#
# A head is the `CausalAttention` that you wrote in assignment 07. Nothing in it has to change. The
# wrapper makes as many of them as it is asked for, hands each the same tokens, and joins the
# context vectors: with 2 heads of size 2, a token's context vector has size 4.
#
# The module has to know its heads. Only then are their weights among its own, to be trained, saved
# and moved with it.


# %%
class MultiHeadAttentionWrapper(nn.Module):
    """Several heads of causal attention, side by side.

    Its `heads` are an `nn.ModuleList` of `CausalAttention`, created one after the other.

    Args:
        d_in: the size of a token.
        d_out: the size of one head's context vectors.
        context_length: the largest number of tokens of a text.
        dropout: the probability with which an attention weight is dropped in training.
        num_heads: how many heads there are.
        qkv_bias: whether the linear layers of the heads have a bias.

    Example:
        A batch of two copies of the text, two heads of size 2:

        >>> _ = torch.manual_seed(123)
        >>> attention = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2)
        >>> attention(torch.stack([INPUTS, INPUTS]))[0, 0]
        tensor([-0.4519,  0.2216,  0.4772,  0.1063], grad_fn=<SelectBackward0>)
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        # TODO: create the heads, in a list that the module knows of.
        raise NotImplementedError("08_multi_head_wrapper/MultiHeadAttentionWrapper: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of all heads, joined.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`, with at most `context_length` tokens.

        Returns:
            Shape `(batch_size, num_tokens, num_heads * d_out)`: for each token the context vector
            of the first head, then that of the second, and so on.

        Raises:
            ValueError: when there are more tokens than `context_length`, if your heads raise it.
        """
        # TODO: hand the tokens to each head and join what the heads answer.
        raise NotImplementedError("08_multi_head_wrapper/MultiHeadAttentionWrapper: not attempted yet")
