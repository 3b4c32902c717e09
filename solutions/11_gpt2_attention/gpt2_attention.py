# %% [markdown]
# # 11. GPT-2's attention
#
# The layer you know, at the size of a real model. The smallest GPT-2 has 768 features for each
# token and 12 heads of 64, and reads up to 1024 tokens at a time. Nothing about the mathematics
# is new; at this size it is details that matter.
#
# What a small example hides: the layer learns 2,360,064 numbers, and the smallest GPT-2 has 12 such
# layers. For one text of 1024 tokens each layer makes 12 squares of weights, 12,582,912 numbers;
# for twice the tokens it would be four times as many. The mask has 1,048,576 entries, which nobody
# learns: if you count them, the size is wrong.
#
# Scaling matters now: scores are divided by 8, the square root of 64, and no longer by 1.41, as
# with two features. GPT-2 itself also has biases for queries, keys and values (`qkv_bias=True`),
# which makes 2,362,368.
#
# **About 45 minutes, difficulty 2 of 3.** You need assignment 09.
#
# Check your work with `grader check 11`, or in the notebook with the cell below each exercise.

# %% [markdown]
# ![Arrows lead from a text through the three matrices for queries, keys and values to the weights
# of twelve heads, on to their context vectors and through the last matrix. Each matrix has its
# number of parameters.](picture.svg)

# %%
import torch
from torch import Tensor, nn

# %% [markdown]
# ## Step 1: the configuration
#
# A dictionary that names every argument once: the layer at the end can then be made with
# `GPT2MultiHeadAttention(**GPT2_CONFIG)`.

# %% exercise="GPT2_CONFIG"
# The size of GPT-2's attention, by the names of the layer's arguments: "d_in", "d_out",
# "context_length", "num_heads" and "dropout" (which is 0.1).
# TODO: GPT2_CONFIG = a dictionary of these five.
### BEGIN SOLUTION
GPT2_CONFIG: dict[str, int | float] = {
    "d_in": 768,
    "d_out": 768,
    "context_length": 1024,
    "num_heads": 12,
    "dropout": 0.1,
}
### END SOLUTION

# %% [markdown]
# ## Step 2: how large is it?
#
# The size of a model is how many numbers it learns. Not everything it holds is learnt: a mask, or
# the running averages of a normalisation such as `nn.BatchNorm1d`, are buffers. And a layer that a
# model uses twice is still one layer.

# %%
# Something to count: 4 × 4 weights and 4 biases, used twice, and 2 × 4 numbers of a normalisation.
# The last layer has no numbers of its own: its weights are those of the first.
SHARED_LAYER = nn.Linear(4, 4)
TIED_LAYER = nn.Linear(4, 4, bias=False)
TIED_LAYER.weight = SHARED_LAYER.weight
EXAMPLE_MODEL = nn.Sequential(SHARED_LAYER, nn.BatchNorm1d(4), SHARED_LAYER, TIED_LAYER)


# %% exercise="count_parameters"
def count_parameters(module: nn.Module) -> int:
    """How many numbers a module learns.

    Args:
        module: any module.

    Returns:
        The number of all entries of its parameters; shared ones count once, buffers not at all.

    Example:
        >>> count_parameters(EXAMPLE_MODEL)
        28
    """
    # TODO: add up how many entries each parameter has.
    ### BEGIN SOLUTION
    return sum(parameter.numel() for parameter in module.parameters())
    ### END SOLUTION


# %% [markdown]
# ## Step 3: the layer
#
# Causal attention with several heads, as in assignment 09. Mind what is different: `num_heads`
# comes *before* `dropout`, and `dropout` is 0.1 unless said otherwise. You may write the layer
# anew, or put your own class of assignment 09 into this file and wrap it: then hand on every
# argument, by its name.
#
# Where do 2,360,064 parameters come from? Four layers of 768 × 768 weights, and the 768 biases of
# the last one.


# %% exercise="GPT2MultiHeadAttention"
class GPT2MultiHeadAttention(nn.Module):
    """Causal attention with several heads, as GPT-2 has it.

    Args:
        d_in: features of a token.
        d_out: features of a context vector, all heads together; a multiple of `num_heads`.
        context_length: the most tokens a text may have.
        num_heads: how many heads.
        dropout: the probability with which an attention weight is dropped.
        qkv_bias: whether the layers for queries, keys and values have biases.

    Attributes (of this module, or of one inside it):
        W_query, W_key, W_value: `nn.Linear` from `d_in` to `d_out`.
        out_proj: `nn.Linear` from `d_out` to `d_out`, with a bias.
        dropout: `nn.Dropout`.
        mask: a buffer, shape `(context_length, context_length)`; it says what is the future.

    Raises:
        ValueError: when `d_out` is not a multiple of `num_heads`, or a text is too long. (An
            `assert` is just as good for the first; leaving the second out costs no points.)

    Example:
        >>> model = GPT2MultiHeadAttention(768, 768, 1024, 12)
        >>> model(torch.randn(2, 10, 768)).shape
        torch.Size([2, 10, 768])
        >>> count_parameters(model)
        2360064
    """

    mask: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        num_heads: int,
        dropout: float = 0.1,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        # TODO: check that d_out fits num_heads, then create the layers and the mask.
        ### BEGIN SOLUTION
        if d_out % num_heads != 0:
            raise ValueError(f"d_out ({d_out}) is not a multiple of num_heads ({num_heads})")
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length, dtype=torch.bool).triu(diagonal=1)
        self.register_buffer("mask", future)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of every token of every text.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`.

        Returns:
            Shape `(batch_size, num_tokens, d_out)`.
        """
        # TODO: what each head finds in the past of each token, put together and projected.
        ### BEGIN SOLUTION
        batch_size, num_tokens, _ = x.shape
        context_length = self.mask.shape[0]
        if num_tokens > context_length:
            raise ValueError(f"{num_tokens} tokens are more than context_length ({context_length})")
        by_head = (batch_size, num_tokens, self.num_heads, self.head_dim)
        # (batch_size, num_heads, num_tokens, head_dim)
        queries = self.W_query(x).reshape(by_head).transpose(1, 2)
        keys = self.W_key(x).reshape(by_head).transpose(1, 2)
        values = self.W_value(x).reshape(by_head).transpose(1, 2)
        scores = queries @ keys.transpose(2, 3)
        scores = scores.masked_fill(self.mask[:num_tokens, :num_tokens], -torch.inf)
        weights = torch.softmax(scores / self.head_dim**0.5, dim=-1)
        weights = self.dropout(weights)
        # (batch_size, num_tokens, d_out)
        context = (weights @ values).transpose(1, 2).reshape(batch_size, num_tokens, -1)
        return self.out_proj(context)
        ### END SOLUTION
