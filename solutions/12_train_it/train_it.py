# %% [markdown]
# # 12. Train it
#
# A layer with random weights knows nothing. Here yours learns: your `MultiHeadAttention` stands
# twice in a small model, and the model is trained to continue texts like this one:
#
# > journeyjourneyjourneyjou
#
# A text is 4 to 12 different letters, over and over. Each text has letters of its own, so nothing
# can be learnt by heart. To continue it, look for the place where the last letter stood before, and
# copy what came after it. Looking and copying is what attention does.
#
# A guess is right once in 26 times, and its loss (minus the logarithm of the probability of the
# right letter) is ln 26, 3.26. Training takes less than a minute, without a graphics card. Before you
# train, write down what you expect: which loss, and how many letters right?
#
# Then you look at the heads, two in each of two layers, and switch one off. How many of the four does
# the model need?
#
# The model is given. You write five small pieces, one of them the step that trains it. Check your work
# with `grader check 12`, or in the notebook with the cell below each exercise; `python train_it.py`
# trains and shows everything.
#
# **About 60 minutes, difficulty 2 of 3.** You need assignments 05 and 09.

# %% [markdown]
# ![A letter and its place become one vector, the token. In the first block the token takes two ways
# at once, straight on and through attention, and both are added; the second block does the same.
# Last comes a score for each letter.](picture.svg)

# %%
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from multi_head_attention import MultiHeadAttention, head_scores, split_heads
from torch import Tensor, nn

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# What a model may read at once, the features of a token, the heads of a layer, and the layers.
NUM_TOKENS, FEATURES, NUM_HEADS, NUM_LAYERS = 24, 32, 2, 2


def draw_texts(batch_size: int, generator: torch.Generator) -> Tensor:
    """Texts that repeat themselves: of each letter its number, one letter more than a model reads.

    Shape `(batch_size, NUM_TOKENS + 1)`.
    """
    letters = torch.rand(batch_size, len(LETTERS), generator=generator).argsort(dim=-1)
    periods = torch.randint(4, 13, (batch_size, 1), generator=generator)
    return letters.gather(1, torch.arange(NUM_TOKENS + 1) % periods)


# %% [markdown]
# ## Step 1: what comes next
#
# Nobody has to write down right answers for this: the text has them. Its first token is followed by
# its second, its second by the third. Thanks to the mask of assignment 05, no token sees its answer.


# %% exercise="inputs_and_targets"
def inputs_and_targets(texts: Tensor) -> tuple[Tensor, Tensor]:
    """What a model reads, and for each of these tokens the one that comes next.

    The texts stay as they are.

    Args:
        texts: shape `(batch_size, num_tokens + 1)`, whole numbers.

    Returns:
        The inputs and the targets, both of shape `(batch_size, num_tokens)`.

    Example:
        >>> inputs_and_targets(torch.tensor([[3, 1, 4, 3, 1]]))
        (tensor([[3, 1, 4, 3]]), tensor([[1, 4, 3, 1]]))
    """
    # TODO: leave out the last token for the inputs, and the first one for the targets.
    ### BEGIN SOLUTION
    return texts[:, :-1], texts[:, 1:]
    ### END SOLUTION


# %% [markdown]
# ## Step 2: your layer in a block
#
# A context vector tells what a token has found. If it took the token's place, the token itself
# would be lost. So it is added: what went in goes on, together with what was found. This path also
# leads gradients past the layer, back to the first one.


# %% exercise="AttentionBlock"
class AttentionBlock(nn.Module):
    """Your `MultiHeadAttention`, with a path around it. This is a residual connection.

    Args:
        features: of a token, before and after.
        context_length: the most tokens a text may have.
        num_heads: how many heads.

    Attributes:
        attention: your `MultiHeadAttention` from `features` to `features`, without dropout.

    Example:
        A batch of two texts of four tokens:

        >>> block = AttentionBlock(6, 5, 3)
        >>> block(torch.rand(2, 4, 6)).shape
        torch.Size([2, 4, 6])
    """

    def __init__(self, features: int, context_length: int, num_heads: int) -> None:
        super().__init__()
        # TODO: create the layer.
        ### BEGIN SOLUTION
        self.attention = MultiHeadAttention(features, features, context_length, 0.0, num_heads)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Each token, and added to it what attention finds for it.

        The tokens stay as they are. Gradients flow to them and to all parameters.

        Args:
            x: shape `(batch_size, num_tokens, features)`.

        Returns:
            Shape `(batch_size, num_tokens, features)`.
        """
        # TODO: add what the layer finds to the tokens.
        ### BEGIN SOLUTION
        return x + self.attention(x)
        ### END SOLUTION


# %% [markdown]
# ## The model
#
# It is given; read it. A token becomes the sum of two vectors, one for the letter and one for its
# place (its *position*): attention compares vectors only, and those of letters do not say which one
# stands just before. Two of your blocks follow, and at the end a score for each letter of the alphabet, its
# *logit*.


# %%
class LetterModel(nn.Module):
    """A score for each letter to come next, `(batch_size, num_tokens, 26)`."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), FEATURES)
        self.places = nn.Embedding(NUM_TOKENS, FEATURES)
        self.blocks: Any = nn.ModuleList(
            AttentionBlock(FEATURES, NUM_TOKENS, NUM_HEADS) for _ in range(NUM_LAYERS)
        )
        self.scores = nn.Linear(FEATURES, len(LETTERS))

    def forward(self, inputs: Tensor) -> Tensor:
        """The scores."""
        return self.scores(self.before_block(NUM_LAYERS, inputs))

    def before_block(self, number: int, inputs: Tensor) -> Tensor:
        """What a block reads: the letters and their places, after the blocks before it."""
        x = self.letters(inputs) + self.places(torch.arange(inputs.shape[1]))
        for block in self.blocks[:number]:
            x = block(x)
        return x


def can_be_known(inputs: Tensor) -> Tensor:
    """Where a letter stood in the text before, so that it is known what comes after it."""
    is_same = inputs.unsqueeze(2) == inputs.unsqueeze(1)
    return is_same.tril(diagonal=-1).any(dim=-1)


def accuracy(model: LetterModel, texts: Tensor) -> float:
    """Of the letters that can be known, the share that gets the largest score."""
    inputs, targets = inputs_and_targets(texts)
    with torch.inference_mode():
        is_right = model(inputs).argmax(dim=-1) == targets
    return is_right[can_be_known(inputs)].float().mean().item()


# %% [markdown]
# ## Step 3: a training step
#
# How does a model get better? `loss.backward()` computes for every parameter how the loss changes with
# it, its gradient, and **adds** that to what stands in `.grad`. `optimizer.step()` then moves every
# parameter a little against its gradient. `optimizer.zero_grad()` empties `.grad`. Each of the three is
# needed once in a step, and their order matters: work it out.
#
# Not every letter can be known. Those that cannot have the target −100, which `F.cross_entropy` leaves
# out of its mean. It takes scores of shape `(n, letters)` and targets of shape `(n,)`: first make one axis
# of texts and tokens.
#
# To try the step, here is the simplest model, which knows nothing but the letter it has just read, and
# the simplest optimizer.


# %%
class LastLetterModel(nn.Module):
    """A score for each letter to come next, from the last letter alone; at first all are 0."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Embedding(len(LETTERS), len(LETTERS))
        nn.init.zeros_(self.scores.weight)

    def forward(self, inputs: Tensor) -> Tensor:
        """The scores, `(batch_size, num_tokens, 26)`."""
        return self.scores(inputs)


class GradientDescent(torch.optim.SGD):
    """Moves each parameter of a model by `learning_rate` times its gradient, against it."""

    def __init__(self, model: nn.Module, learning_rate: float) -> None:
        super().__init__(model.parameters(), lr=learning_rate)


# %% exercise="training_step"
def training_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor
) -> float:
    """Move the parameters of a model once, so that the loss on these texts gets smaller.

    The loss is the mean cross-entropy over all targets but those of -100. Gradients of earlier steps do
    not count. Inputs and targets stay as they are.

    Args:
        model: gives a score for each letter to come next, `(batch_size, num_tokens, num_letters)`.
        optimizer: has the parameters of the model.
        inputs: shape `(batch_size, num_tokens)`, whole numbers.
        targets: the same shape; -100 where no letter is asked for.

    Returns:
        The loss before the step, as a plain number.

    Example:
        The second step begins with a smaller loss:

        >>> model = LastLetterModel()
        >>> optimizer = GradientDescent(model, 5.0)
        >>> inputs, targets = torch.tensor([[0, 1, 2]]), torch.tensor([[1, 2, -100]])
        >>> [round(training_step(model, optimizer, inputs, targets), 4) for _ in range(2)]
        [3.2581, 1.1158]
    """
    # TODO: scores, loss; empty the gradients, compute them, move the parameters; give the loss back.
    ### BEGIN SOLUTION
    scores = model(inputs)
    loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %%
def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, num_steps: int, seed: int
) -> Iterator[float]:
    """Train a model on new texts in each step, and yield the losses."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(num_steps):
        inputs, targets = inputs_and_targets(draw_texts(64, generator))
        targets = targets.masked_fill(~can_be_known(inputs), -100)
        yield training_step(model, optimizer, inputs, targets)


# %% [markdown]
# ## Train
#
# First the model that knows the last letter alone, then yours. What can the first one never learn of
# these texts? How many letters does yours get right before training, and how many after it? Another
# seed draws other weights and other texts: does the model learn every time?

# %%
if __name__ == "__main__":
    from grader.charts import progress, show_curve
    from grader.notebook import experiment

    SEED, NUM_STEPS = 1, 500
    new_texts = draw_texts(256, torch.Generator().manual_seed(1000))
    with experiment():
        last = LastLetterModel()
        losses = list(train(last, GradientDescent(last, 5.0), NUM_STEPS, SEED))
        print(f"the last letter alone: loss {losses[0]:.2f} -> {losses[-1]:.4f}")
        torch.manual_seed(SEED)
        model = LetterModel()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        before = accuracy(model, new_texts)
        losses = list(progress(train(model, optimizer, NUM_STEPS, SEED), NUM_STEPS, "loss"))
        after = accuracy(model, new_texts)
        show_curve(losses, "loss")
        print(f"{SEED=} loss {losses[0]:.2f} -> {losses[-1]:.4f}, {before=:.2f}, {after=:.2f}")

# %% [markdown]
# ## Step 4: where the heads look
#
# Your layer computes weights, uses them and lets them go. To see them, compute them once more,
# from the queries and keys of a layer. All that it takes you have written: `split_heads` and
# `head_scores` of assignment 09 are imported above, and the mask is that of assignment 05.


# %% exercise="head_weights"
def head_weights(queries: Tensor, keys: Tensor, num_heads: int) -> Tensor:
    """The attention weights of each head, the future hidden, without dropout.

    The queries and the keys stay as they are.

    Args:
        queries: of all heads, shape `(batch_size, num_tokens, d_out)`.
        keys: the same of the keys.
        num_heads: how many heads; `d_out` is a multiple of it.

    Returns:
        Shape `(batch_size, num_heads, num_tokens, num_tokens)`: in each head a row for each query
        and a column for each key. Every row sums to 1.

    Example:
        Two heads of one feature. Of two tokens the first sees only itself:

        >>> x = torch.tensor([[[1.0, 0.0], [2.0, 1.0]]])
        >>> head_weights(x, x, num_heads=2)
        tensor([[[[1.0000, 0.0000],
                  [0.1192, 0.8808]],
        <BLANKLINE>
                 [[1.0000, 0.0000],
                  [0.2689, 0.7311]]]])
    """
    # TODO: cut into heads, scores, hide the future, scale, softmax.
    ### BEGIN SOLUTION
    heads = split_heads(queries, num_heads)
    scores = head_scores(heads, split_heads(keys, num_heads))
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(diagonal=1)
    scores = scores.masked_fill(future, -torch.inf)
    return torch.softmax(scores / heads.shape[-1] ** 0.5, dim=-1)
    ### END SOLUTION


# %% [markdown]
# ## Look at the heads
#
# Each map has a row for each letter of the text, and in it a dark cell where that letter looks. One
# of the heads of the first block (`block=0` in the maps) looks at the letter just before, for about
# the first twelve letters: a stripe below the diagonal. (The longest texts repeat after twelve;
# beyond that it is not needed.) In the second block, which letter does the second "j" look at, and
# what did the first block tell that letter?
#
# Two heads that work together like this, one that looks at the token before and one that looks for
# where the same stood earlier and copies what came next, are found in large language models too. The
# second one is called an **induction head**.

# %%
if __name__ == "__main__":
    from grader.charts import show_maps

    TEXT = "journeyjourneyjourneyjou"
    with experiment():
        inputs = torch.tensor([[LETTERS.index(letter) for letter in TEXT]])
        maps = {}
        for block in range(NUM_LAYERS):
            layer, x = model.blocks[block].attention, model.before_block(block, inputs)
            weights = head_weights(layer.W_query(x), layer.W_key(x), NUM_HEADS)
            for head in range(NUM_HEADS):
                maps[f"{block=} {head=}"] = weights[0, head].tolist()
        show_maps(maps, TEXT)

# %% [markdown]
# ## Step 5: switch a head off
#
# What is a head good for? Take it away and see what is lost. `out_proj` mixes the features of all
# heads: each row of its weight makes one new feature, and each column stands for one feature of a
# head. Where a head's columns are zero, nothing of it arrives.


# %% exercise="switch_off_head"
def switch_off_head(weight: Tensor, head: int, num_heads: int) -> Tensor:
    """The weight of `out_proj` with one head switched off.

    The weight that is given stays as it is.

    Args:
        weight: shape `(d_out, d_out)`, as `nn.Linear` keeps it.
        head: the number of the head, counted from 0.
        num_heads: how many heads; they share the features in order.

    Returns:
        The same shape, with zeros in the columns of that head.

    Example:
        Two heads of two features:

        >>> switch_off_head(torch.ones(4, 4), head=1, num_heads=2)
        tensor([[1., 1., 0., 0.],
                [1., 1., 0., 0.],
                [1., 1., 0., 0.],
                [1., 1., 0., 0.]])
    """
    # TODO: copy the weight, and put zeros into the columns of the head.
    ### BEGIN SOLUTION
    head_dim = weight.shape[1] // num_heads
    kept = weight.clone()
    kept[:, head * head_dim : (head + 1) * head_dim] = 0
    return kept
    ### END SOLUTION


# %% [markdown]
# ## One head less
#
# Which head does the model need most? Say which before you run it; it is in the maps above. Why can no
# head of the second block take its place?


# %%
def accuracy_without(model: LetterModel, texts: Tensor, block: int, head: int) -> float:
    """The accuracy with one head switched off; afterwards the model is as it was."""
    weight = model.blocks[block].attention.out_proj.weight
    before = weight.detach().clone()
    with torch.autograd.no_grad():
        weight.copy_(switch_off_head(before, head, NUM_HEADS))
        found = accuracy(model, texts)
        weight.copy_(before)
    return found


if __name__ == "__main__":
    with experiment():
        print(f"all heads: {accuracy(model, new_texts):.2f}")
        for block in range(NUM_LAYERS):
            for head in range(NUM_HEADS):
                without = accuracy_without(model, new_texts, block, head)
                print(f"{block=} {head=} {without=:.2f}")

# %% [markdown]
# ## Beyond this model
#
# In our run everything depends on one head of the first layer: without it, 0.18 of the letters are
# right. Without any other one, 0.98 or more are. Is it the same head in yours?
#
# A large language model is this with more of everything: vectors for tokens and places, dozens of
# blocks, a score for each token of the vocabulary. Its blocks have a second part, a small network
# that works on every token by itself (an MLP), and a normalisation before each part. And when it
# writes, token by token, it keeps the keys and values of what it has read (a key-value cache), so
# that a new token costs one row of scores and not all of them again.
