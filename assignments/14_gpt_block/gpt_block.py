# %% [markdown]
# # 14. The GPT block
#
# Your attention layer is one part of a block of GPT-2. Here you write the other parts: a layer that
# normalises, a small network for every token, the shortcuts around both, and around it all the
# model. In comes each token as its number, out comes a score (its *logit*) for each token of the
# vocabulary, which is all the tokens there are.
#
# You need no new idea about attention: your `MultiHeadAttention` of assignment 09 does its work
# inside, twelve times in a row, 12 heads each.
#
# Then you count. At the size of GPT-2's small model, yours learns 124,412,160 numbers (*parameters*), and
# 124,439,808 where queries, keys and values have biases. With another matrix for the scores it would be
# 163,009,536: nearly a third more, and not needed, because one matrix can do both.
#
# Last, you load numbers that were stored for another model. GPT-2's files have queries, keys and values
# in one matrix, and the matrix of each layer transposed. A block has four of these matrices. One is
# square: if you do not transpose it back, there is no error, and the model writes nonsense.
#
# The parts are called as in GPT-2; other names cost a little. There is no dropout in this assignment.
# Check your work with `grader check 14`, or in the notebook with the cell
# below each exercise.
#
# **About 90 minutes, difficulty 3 of 3.** You need assignment 09.

# %% [markdown]
# ```text
# Each part reads normalised tokens, and what it finds is added
#
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                                the tokens                                │
# │                        (b, num_tokens, features)                         │
# └──────────────────────────────────────────────────────────────────────────┘
#                                       │                  │
#                                       │                  ▼
#                                       │┌───────────────────────────────────┐
#                                       ││               ln_1                │
#                                       ││     (b, num_tokens, features)     │
#                                       ││           learnt: 1,536           │
#                                       │└───────────────────────────────────┘
#                                       │                  │
#                                       │                  ▼
#                                       │┌───────────────────────────────────┐
#                                       ││               attn                │
#                                       ││     (b, num_tokens, features)     │
#                                       ││         learnt: 2,360,064         │
#                                       │└───────────────────────────────────┘
#                                       │                  │
#                                       ▼                  ▼
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                                first sum                                 │
# │                        (b, num_tokens, features)                         │
# │                   the tokens, and what attention found                   │
# └──────────────────────────────────────────────────────────────────────────┘
#                                       │                  │
#                                       │                  ▼
#                                       │┌───────────────────────────────────┐
#                                       ││               ln_2                │
#                                       ││     (b, num_tokens, features)     │
#                                       ││           learnt: 1,536           │
#                                       │└───────────────────────────────────┘
#                                       │                  │
#                                       │                  ▼
#                                       │┌───────────────────────────────────┐
#                                       ││                mlp                │
#                                       ││     (b, num_tokens, features)     │
#                                       ││   4 · features inside; learnt:    │
#                                       ││             4,722,432             │
#                                       │└───────────────────────────────────┘
#                                       │                  │
#                                       ▼                  ▼
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                                second sum                                │
# │                        (b, num_tokens, features)                         │
# │                the first sum, and what the network found                 │
# └──────────────────────────────────────────────────────────────────────────┘
#
# The residual stream has no norm: what came in goes on to the last block.
# ```

# %%
# Finds your own assignment 09 when this file is run by itself.
if __name__ == "__main__":
    from grader.notebook import use_own

    use_own("09_multi_head_attention")

# %%
import torch
from multi_head_attention import MultiHeadAttention
from torch import Tensor, nn

# %% [markdown]
# ## Step 1: normalise
#
# Each block adds something to a token, and so its features grow from block to block. Features twice as
# large make scores four times as large, and with large scores the softmax takes hardly more than one
# token. So before a part reads a token, its features are moved and scaled: their mean becomes 0 and
# their variance 1. Each token is treated by itself; other tokens and other texts do not count. Then
# each feature is multiplied by a number of its own (`weight`, elsewhere *scale*), and one is added
# (`bias`, elsewhere *shift*). Both are learnt:
#
# $$y_i = w_i \, \frac{x_i - \text{mean}}{\sqrt{\text{variance} + \text{eps}}} + b_i$$
#
# The variance is the mean of the squared distances from the mean: their sum is divided by the number
# of features, not by one less. `eps` keeps the root away from 0 where all features are equal.


# %%
class LayerNorm(nn.Module):
    """Normalises the features of each token.

    Args:
        features: of a token.
        eps: is added to the variance, below the root.

    Attributes:
        weight: `nn.Parameter`, what each feature is multiplied by; at first ones.
        bias: `nn.Parameter`, what is added to each feature; at first zeros.

    Example:
        >>> LayerNorm(4)(torch.tensor([[[1.0, 2.0, 3.0, 6.0]]])).detach()
        tensor([[[-1.0690, -0.5345,  0.0000,  1.6036]]])
    """

    def __init__(self, features: int, eps: float = 1e-5) -> None:
        super().__init__()
        # TODO: keep eps, create the two parameters.
        raise NotImplementedError("14_gpt_block/LayerNorm: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """Each token with its features normalised, then scaled and moved.

        The tokens stay as they are. Gradients flow to them and to both parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, features)`.

        Returns:
            The same shape.
        """
        # TODO: mean and variance of each token; subtract, divide, scale and move.
        raise NotImplementedError("14_gpt_block/LayerNorm: not attempted yet")


# %% [markdown]
# ## Step 2: an activation function
#
# The network of step 3 has two linear layers. One right after the other, they can do no more than a
# single one: two matrices in a row are one matrix, their product. So a function stands between them
# that is not linear, an *activation function*. GPT-2 has the GELU: large numbers pass, very negative ones become 0, and the
# way between is smooth. Its exact form needs the error function; GPT-2 computes it with `tanh`:
#
# $$\text{gelu}(x) = \frac{x}{2} \left(1 + \tanh\left(\sqrt{\frac{2}{\pi}} \,
# (x + 0.044715 \, x^3)\right)\right)$$
#
# Both forms differ by less than 0.0005. Write the one with `tanh`: GPT-2's weights were trained with
# it, and in step 6 you load weights of that kind.


# %%
def gelu(x: Tensor) -> Tensor:
    """The GELU of each number, in its form with `tanh`.

    The numbers stay as they are. Gradients flow to them. The result has their dtype.

    Args:
        x: any shape.

    Returns:
        The same shape.

    Example:
        >>> gelu(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]))
        tensor([-0.0454, -0.1588,  0.0000,  0.8412,  1.9546])
    """
    # TODO: the equation above.
    raise NotImplementedError("14_gpt_block/gelu: not attempted yet")


# %% [markdown]
# ## Step 3: a network for every token
#
# Attention carries things from token to token. What a token makes of them is worked out by a small network
# (*MLP*), for each token by itself: four times as many features, the GELU, and back.


# %%
class FeedForward(nn.Module):
    """Two linear layers with a `gelu` between them.

    Args:
        features: of a token, before and after.

    Attributes:
        c_fc: `nn.Linear` from `features` to `4 * features`, with a bias.
        c_proj: `nn.Linear` back, with a bias.

    Example:
        >>> FeedForward(6)(torch.rand(2, 4, 6)).shape
        torch.Size([2, 4, 6])
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        # TODO: create the two layers.
        raise NotImplementedError("14_gpt_block/FeedForward: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """What the network makes of each token.

        The tokens stay as they are. Gradients flow to them and to all parameters.

        Args:
            x: shape `(batch_size, num_tokens, features)`.

        Returns:
            The same shape.
        """
        # TODO: one layer, gelu, the other layer.
        raise NotImplementedError("14_gpt_block/FeedForward: not attempted yet")


# %% [markdown]
# ## Step 4: the block
#
# Two parts, and a shortcut around each, a residual connection as in assignment 12: what a part finds
# is added to what came in. The second part goes on with the sum that the first one made. Each part
# reads its tokens normalised. What runs from shortcut to shortcut (the *residual stream*) is not
# normalised, so that gradients get from the last block to the first with nothing in between.


# %%
class TransformerBlock(nn.Module):
    """Your attention and your network, each with its norm before it and a shortcut around both.

    Args:
        features: of a token, before and after.
        context_length: the most tokens a text may have.
        num_heads: how many heads.
        qkv_bias: whether the layers for queries, keys and values have biases.

    Attributes:
        ln_1: your `LayerNorm`, before the attention.
        attn: your `MultiHeadAttention` of assignment 09, from `features` to `features`, without
            dropout.
        ln_2: your `LayerNorm`, before the network.
        mlp: your `FeedForward`.

    Example:
        >>> block = TransformerBlock(6, 5, num_heads=3)
        >>> block(torch.rand(2, 4, 6)).shape
        torch.Size([2, 4, 6])
    """

    def __init__(
        self, features: int, context_length: int, num_heads: int, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        # TODO: create the four parts.
        raise NotImplementedError("14_gpt_block/TransformerBlock: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """Each token, with what attention and the network find for it added.

        The tokens stay as they are. Gradients flow to them and to all parameters.

        Args:
            x: shape `(batch_size, num_tokens, features)`.

        Returns:
            The same shape.
        """
        # TODO: norm, attention, add; norm, network, add.
        raise NotImplementedError("14_gpt_block/TransformerBlock: not attempted yet")


# %% [markdown]
# ## Step 5: the model
#
# A token comes in as its number. `wte` (token embedding) has a row for each token of the vocabulary,
# `wpe` (position embedding) one for each place, counted from 0; their sum is what the first block
# reads. `h` has the blocks. After the last one comes one more norm, `ln_f`, because what the blocks
# added up is not normalised.
#
# The part that turns the result into scores is called the head of a model; it has nothing to do with the
# heads of attention. It needs no matrix of its own: the score of a token is the dot product of the result with
# the token's row in `wte`. Such a head is *tied* to `wte`. Scores are not probabilities: the softmax comes
# later, in the loss or when a token is drawn.
#
# Count the parameters with 50,257 tokens, 1024 places, 768 features and 12 blocks:
#
# | part | numbers |
# |---|---|
# | `wte` | 50,257 · 768 = 38,597,376 |
# | `wpe` | 1024 · 768 = 786,432 |
# | attention, each block | 4 · 768 · 768 + 768 = 2,360,064 |
# | network, each block | 2 · 4 · 768 · 768 + 4 · 768 + 768 = 4,722,432 |
# | two norms, each block | 2 · 2 · 768 = 3,072 |
# | last norm | 2 · 768 = 1,536 |
#
# A block has 7,085,568, twelve have 85,026,816, and all together is 124,412,160. Biases of queries,
# keys and values add 12 · 3 · 768 = 27,648. A head of its own would add as many as `wte` has.


# %%
class GPT(nn.Module):
    """A model of GPT-2's kind: a score for each token to come next.

    Args:
        vocab_size: how many tokens there are.
        context_length: the most tokens a text may have.
        features: of a token.
        num_heads: how many heads each block has.
        num_layers: how many blocks.
        qkv_bias: whether the layers for queries, keys and values have biases.

    Attributes:
        wte: `nn.Embedding`, a row for each token of the vocabulary; the head is tied to it.
        wpe: `nn.Embedding`, a row for each place.
        h: `nn.ModuleList` of your `TransformerBlock`.
        ln_f: your `LayerNorm`, after the last block.

    Example:
        >>> model = GPT(vocab_size=9, context_length=5, features=6, num_heads=3, num_layers=2)
        >>> model(torch.tensor([[3, 1, 4, 1]])).shape
        torch.Size([1, 4, 9])
    """

    def __init__(
        self,
        vocab_size: int,
        context_length: int,
        features: int,
        num_heads: int,
        num_layers: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        # TODO: create the embeddings, the blocks and the last norm.
        raise NotImplementedError("14_gpt_block/GPT: not attempted yet")

    def forward(self, tokens: Tensor) -> Tensor:
        """The scores of what comes next, after each token.

        Gradients flow to all parameters.

        Args:
            tokens: shape `(batch_size, num_tokens)`, whole numbers from 0.

        Returns:
            Shape `(batch_size, num_tokens, vocab_size)`, plain scores without a softmax.
        """
        # TODO: token and place, the blocks, the last norm, products with the rows of wte.
        raise NotImplementedError("14_gpt_block/GPT: not attempted yet")


# %% [markdown]
# ## Count
#
# On the device "meta", tensors have a shape and no numbers: a model of any size is made in a moment.


# %%
def numbers_at_gpt2_size(qkv_bias: bool) -> int:
    """How many numbers your model learns at the size of GPT-2's small model."""
    with torch.device("meta"):
        model = GPT(50257, 1024, 768, 12, 12, qkv_bias)
    return sum(parameter.numel() for parameter in model.parameters())


if __name__ == "__main__":
    from grader.notebook import experiment

    with experiment():
        print(f"{numbers_at_gpt2_size(False):,} without biases of queries, keys and values")
        print(f"{numbers_at_gpt2_size(True):,} with them")

# %% [markdown]
# ## Step 6: numbers from elsewhere
#
# A file of GPT-2 has a tensor for each name, as the `state_dict` of your model has (below: a *state*).
# To see yours, print the names and shapes of a small model. Most are those of GPT-2. Two things are not,
# and here is the first.
#
# Matrices of layers are stored transposed: `(inputs, outputs)`, while `nn.Linear` keeps
# `(outputs, inputs)`. This holds for the weights of `c_attn`, `c_fc` and both `c_proj`; the one in
# `attn` is square. `wte` and `wpe` are no layers and stay as they are, and so do norms and all biases.


# %%
def turn_layers(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a state in GPT-2's format, with the matrices of layers turned.

    These are the weights of `c_attn`, `c_fc` and `c_proj`. All names stay. The state and its tensors
    stay as they are.

    Args:
        state: by name, of any number of blocks.

    Returns:
        A dictionary with the same names.

    Example:
        >>> weight = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> turn_layers({"h.0.mlp.c_fc.weight": weight})["h.0.mlp.c_fc.weight"]
        tensor([[1, 4],
                [2, 5],
                [3, 6]])
    """
    # TODO: go through names and tensors; turn the weights of layers, and keep all else.
    raise NotImplementedError("14_gpt_block/turn_layers: not attempted yet")


# %% [markdown]
# ## Step 7: one layer becomes three
#
# The second thing: `attn.c_attn` has queries, keys and values in one layer, in this order. In your model
# they are three layers. Once the matrix is turned, its first rows make the queries, as many as there are
# features, the next as many the keys, and the last the values. Its bias lies in the same order.
#
# What becomes of the names is written for you: `own_name("h.0.attn.c_attn.bias", "W_key")` is
# `"h.0.attn.W_key.bias"`, and `own_name("h.0.attn.c_proj.bias")` is `"h.0.attn.out_proj.bias"`.


# %%
def own_name(name: str, layer: str = "") -> str:
    """The name in your model of a tensor of GPT-2's; of a piece of `c_attn` with its layer."""
    return name.replace("c_attn", layer).replace("attn.c_proj", "attn.out_proj")


# %%
def from_gpt2(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a state in GPT-2's format, by the names and in the shapes of your `GPT`.

    In each block, `attn.c_attn` becomes `attn.W_query`, `attn.W_key` and `attn.W_value`, and
    `attn.c_proj` becomes `attn.out_proj`, each with weight and bias. All others keep their names.
    The state and its tensors stay as they are.

    Args:
        state: by name, of any number of blocks.

    Returns:
        A dictionary for `load_state_dict` of a `GPT` with `qkv_bias=True`.

    Example:
        Two features; the weight of `c_attn` has two rows and six columns:

        >>> weight = torch.tensor([[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]])
        >>> from_gpt2({"h.0.attn.c_attn.weight": weight})["h.0.attn.W_key.weight"]
        tensor([[ 3,  9],
                [ 4, 10]])
    """
    # TODO: turn the layers; cut the tensors of `c_attn` in three; name all by `own_name`.
    raise NotImplementedError("14_gpt_block/from_gpt2: not attempted yet")


# %% [markdown]
# ## A model with these numbers
#
# Here is a small state in GPT-2's format, its numbers drawn. Your model takes them, and says which
# token it would write next. With a state of the real GPT-2, and a model of its size, it is the same
# line. `strict=False` lets names be missing. The cell prints which: the masks of your layers, which are
# buffers, and nothing else.


# %%
def drawn_state(vocab_size: int, features: int, num_layers: int) -> dict[str, Tensor]:
    """A state in GPT-2's format for texts of up to 8 tokens, drawn anew."""
    shapes: dict[str, tuple[int, ...]]
    shapes = {"wte.weight": (vocab_size, features), "wpe.weight": (8, features)}
    layers = {
        "attn.c_attn": (features, 3 * features),
        "attn.c_proj": (features, features),
        "mlp.c_fc": (features, 4 * features),
        "mlp.c_proj": (4 * features, features),
    }
    for block in range(num_layers):
        for name, shape in layers.items():
            shapes[f"h.{block}.{name}.weight"] = shape
            shapes[f"h.{block}.{name}.bias"] = shape[1:]
        for name in ("ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"):
            shapes[f"h.{block}.{name}"] = (features,)
    shapes |= {"ln_f.weight": (features,), "ln_f.bias": (features,)}
    return {name: torch.randn(shape) for name, shape in shapes.items()}


if __name__ == "__main__":
    with experiment():
        torch.manual_seed(123)
        model = GPT(11, 8, 12, num_heads=3, num_layers=2, qkv_bias=True)
        found = model.load_state_dict(from_gpt2(drawn_state(11, 12, 2)), strict=False)
        print(f"missing: {found.missing_keys}")
        scores = model(torch.tensor([[3, 1, 4, 1, 5]]))
        print(f"after 3 1 4 1 5 comes {scores[0, -1].argmax()}")
