# %% [markdown]
# # 9. Multi-head attention
#
# One way to have several heads is several layers, each with its own weights, side by side. It can
# be had for less: one wide projection for the queries of *all* heads, cut into as many pieces as
# there are heads. All heads then go through the same few matrix products at once.
#
# Counted: the wrapper of assignment 08 takes 5 products for each head (queries, keys, values,
# scores, mixture), one head after the other, for 12 heads 60. The layer here takes 6, however many
# heads there are: the sixth is `out_proj`, one more linear layer at the end.
#
# Why? Side by side, what the heads found does not meet: the first features are those of the first
# head alone. `out_proj` mixes them, so that every feature that goes on can depend on all heads.
#
# And a test of your own: with the weights of the heads of assignment 08, and an `out_proj` that
# changes nothing, this layer gives what the wrapper gives. To try it, stack the weights of the
# heads by rows, and set the weight of `out_proj` to `torch.eye` and its bias to 0.
#
# Cut, score, put together again: three small functions, and then the layer. Check your work with
# `grader check 09`, or in the notebook with the cell below each exercise.
#
# **About 75 minutes, difficulty 3 of 3.** You need assignments 07 and 08.

# %% [markdown]
# ![The queries of three tokens, four features each. They are cut into two heads of two features,
# each head computes its own, and at the end the pieces stand side by side again.](picture.svg)

# %%
import torch
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
# ## Step 1: cut into heads
#
# A token has `d_out` features. Heads are counted from 0 now. The first `head_dim` of the features
# belong to head 0, the next `head_dim` to head 1, and so on. Afterwards the axis of the heads
# stands *before* the axis of the tokens, so that each head holds a matrix of its own: a row for
# each token. (In GPT-2, each of 12 heads has 64 of 768 features.)


# %% exercise="split_heads"
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """The features of each token, cut into heads.

    The tokens stay as they are. Gradients flow to them.

    Args:
        x: shape `(batch_size, num_tokens, d_out)`.
        num_heads: how many heads; `d_out` is a multiple of it.

    Returns:
        Shape `(batch_size, num_heads, num_tokens, head_dim)`, with `head_dim = d_out // num_heads`.

    Example:
        Two tokens of four features become two heads, each with a piece of both tokens:

        >>> split_heads(torch.tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]]), num_heads=2)
        tensor([[[[1, 2],
                  [5, 6]],
        <BLANKLINE>
                 [[3, 4],
                  [7, 8]]]])
    """
    # TODO: cut the last axis into num_heads pieces, then bring the heads before the tokens.
    ### BEGIN SOLUTION
    batch_size, num_tokens, d_out = x.shape
    # (batch_size, num_tokens, num_heads, head_dim)
    pieces = x.reshape(batch_size, num_tokens, num_heads, d_out // num_heads)
    return pieces.transpose(1, 2)
    ### END SOLUTION


# %% [markdown]
# ## Step 2: scores, head by head
#
# With four axes, a matrix product takes the last two for the matrices and repeats itself over the
# others: one product for each head of each text, and no loop.


# %% exercise="head_scores"
def head_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """The attention scores of every head, not scaled.

    The queries and the keys stay as they are. Gradients flow to both.

    Args:
        queries: shape `(batch_size, num_heads, num_tokens, head_dim)`.
        keys: shape `(batch_size, num_heads, num_tokens, head_dim)`.

    Returns:
        Shape `(batch_size, num_heads, num_tokens, num_tokens)`: in each head, row `i` has the
        scores of query `i` with every key.

    Example:
        >>> a = torch.tensor([[[[0.2745, 0.6584, 0.2775, 0.8573],
        ...                     [0.8993, 0.0390, 0.9268, 0.7388],
        ...                     [0.7179, 0.7058, 0.9156, 0.4340]],
        ...                    [[0.0772, 0.3565, 0.1479, 0.5331],
        ...                     [0.4066, 0.2318, 0.4545, 0.9737],
        ...                     [0.4606, 0.5159, 0.4220, 0.5786]]]])
        >>> head_scores(a, a)
        tensor([[[[1.3208, 1.1631, 1.2879],
                  [1.1631, 2.2150, 1.8424],
                  [1.2879, 1.8424, 2.0402]],
        <BLANKLINE>
                 [[0.4391, 0.7003, 0.5903],
                  [0.7003, 1.3737, 1.0620],
                  [0.5903, 1.0620, 0.9912]]]])
    """
    # TODO: multiply the queries with the keys, the last two axes of which are swapped.
    ### BEGIN SOLUTION
    return queries @ keys.transpose(2, 3)
    ### END SOLUTION


# %% [markdown]
# ## Step 3: put the heads together
#
# The way back: each token gets its pieces from all heads, side by side in the order of the heads.
# Swapping axes moves nothing in memory. `view` needs the numbers to lie in memory in the order of
# the axes, and after the swap they do not; use `reshape`, or `contiguous` before `view`.


# %% exercise="merge_heads"
def merge_heads(x: Tensor) -> Tensor:
    """What the heads have for each token, side by side: undoes `split_heads`.

    The heads stay as they are. Gradients flow to them.

    Args:
        x: shape `(batch_size, num_heads, num_tokens, head_dim)`.

    Returns:
        Shape `(batch_size, num_tokens, d_out)`, with `d_out = num_heads * head_dim`.

    Example:
        >>> merge_heads(torch.tensor([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]))
        tensor([[[1, 2, 3, 4],
                 [5, 6, 7, 8]]])
    """
    # TODO: bring the heads behind the tokens, then make one axis of the last two.
    ### BEGIN SOLUTION
    batch_size, num_heads, num_tokens, head_dim = x.shape
    # (batch_size, num_tokens, num_heads, head_dim)
    pieces = x.transpose(1, 2)
    return pieces.reshape(batch_size, num_tokens, num_heads * head_dim)
    ### END SOLUTION


# %% [markdown]
# ## Step 4: the layer
#
# Queries, keys and values are cut into heads. In each head:
#
# $$\text{weights} = \text{softmax}\left(\frac{\text{scores}}{\sqrt{\text{head\_dim}}}\right)$$
#
# with the future masked out of the scores, and dropout on the weights. The heads' context vectors
# are put together, and `out_proj`, one more linear layer, mixes what the heads have found.


# %% exercise="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """Causal attention with several heads, all of them computed at once.

    Args:
        d_in: features of a token.
        d_out: features of a context vector, all heads together; a multiple of `num_heads`.
        context_length: the most tokens a text may have.
        dropout: the probability with which an attention weight is dropped.
        num_heads: how many heads.
        qkv_bias: whether the layers for queries, keys and values have biases.

    Attributes, created in this order:
        W_query, W_key, W_value: `nn.Linear` from `d_in` to `d_out`.
        out_proj: `nn.Linear` from `d_out` to `d_out`, with a bias.
        dropout: `nn.Dropout`.
        mask: a buffer, shape `(context_length, context_length)`; it says what is the future.

    Raises:
        ValueError: when `d_out` is not a multiple of `num_heads`, or a text is too long. (An
            `assert` is just as good for the first; leaving the second out costs no points.)

    Example:
        >>> _ = torch.manual_seed(123)
        >>> model = MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)
        >>> model(torch.stack((INPUTS, INPUTS)))[0].detach()
        tensor([[0.3190, 0.4858],
                [0.2943, 0.3897],
                [0.2856, 0.3593],
                [0.2693, 0.3873],
                [0.2639, 0.3928],
                [0.2575, 0.4028]])
    """

    mask: Tensor

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
        # TODO: check that d_out fits num_heads, then create the layers and the mask.
        ### BEGIN SOLUTION
        if d_out % num_heads != 0:
            raise ValueError(f"d_out ({d_out}) is not a multiple of num_heads ({num_heads})")
        self.num_heads = num_heads
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
        # TODO: cut into heads, scores, mask, softmax, dropout, mixture, put together, out_proj.
        ### BEGIN SOLUTION
        num_tokens, context_length = x.shape[1], self.mask.shape[0]
        if num_tokens > context_length:
            raise ValueError(f"{num_tokens} tokens are more than context_length ({context_length})")
        queries = split_heads(self.W_query(x), self.num_heads)
        keys = split_heads(self.W_key(x), self.num_heads)
        values = split_heads(self.W_value(x), self.num_heads)
        # (batch_size, num_heads, num_tokens, num_tokens)
        scores = head_scores(queries, keys)
        scores = scores.masked_fill(self.mask[:num_tokens, :num_tokens], -torch.inf)
        head_dim = keys.shape[-1]
        weights = torch.softmax(scores / head_dim**0.5, dim=-1)
        weights = self.dropout(weights)
        context = merge_heads(weights @ values)
        return self.out_proj(context)
        ### END SOLUTION
