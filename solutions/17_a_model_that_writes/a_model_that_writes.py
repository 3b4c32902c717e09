# %% [markdown]
# # 17. A model that writes
#
# All parts are there: your GPT of assignment 14, the grouped heads of 16, the cache of 15. Here they
# become one model, it is trained on a few pages by characters, and it writes. Before training it writes
#
# > alice ubfq ueskelgjbffggvoa(bbbjqq vqzy
#
# and after half a minute, without a graphics card, words, many of which exist, in the tone of the book.
#
# Five pieces are missing. How large are the parameters at first? How wrong is it? Which token comes next,
# when the largest score is not always taken? Then the loop that writes, with a cache, until it is told to
# stop; and grouped heads that read with a cache.
#
# What is random comes in as an argument: to get the same text again, pass the same numbers.
# The scores that a softmax turns into probabilities are called *logits* here, as in most code.
#
# Check your work with `grader check 17`, or in the notebook with the cell below each exercise;
# `python a_model_that_writes.py` trains and writes.
#
# **About 75 minutes, difficulty 3 of 3.** You need assignments 13 to 16.

# %% [markdown]
# ![The probabilities of four tokens side by side on a line from 0 to 1. A low temperature gives the
# largest nearly all of it, a high one makes them alike.](picture.svg)

# %%
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from cache import Cache, append_to_cache
from gpt_block import GPT
from grouped_queries import GroupedQueryAttention, repeat_kv
from masks import causal_mask
from multi_head_attention import merge_heads, split_heads
from torch import Tensor, nn

# %% [markdown]
# ## Step 1: how it begins
#
# The head is tied to `wte`. Where its numbers are drawn with a standard deviation of 1, as
# `nn.Embedding` does, the scores of a new model are in the tens: it is sure of something, and wrong. Its
# first loss is far above that of a guess. GPT-2 begins with 0.02: all scores are nearly 0, and all
# tokens as likely.
#
# Each block adds something twice to the residual stream: what `attn.out_proj` gives, and what
# `mlp.c_proj` gives. After n blocks that makes 2n terms. So that their sum is as large as one of them,
# each is divided by the root of 2n.


# %% exercise="initial_std"
def initial_std(name: str, num_layers: int) -> float:
    """The standard deviation with which a parameter of your model is drawn at first.

    Args:
        name: of the parameter, as in `named_parameters()`: of an embedding or a layer, not of a norm.
        num_layers: how many blocks the model has.

    Returns:
        0 for a bias; 0.02 for a weight; for the weights of `out_proj` and `c_proj`, which add to the
        residual stream, 0.02 divided by the root of `2 * num_layers`.

    Example:
        >>> initial_std("h.0.mlp.c_fc.weight", 2), initial_std("h.0.mlp.c_proj.weight", 2)
        (0.02, 0.01)
    """
    # TODO: tell biases, the last layers of both parts, and all others apart by their names.
    ### BEGIN SOLUTION
    if name.endswith("bias"):
        return 0.0
    if name.endswith(("out_proj.weight", "c_proj.weight")):
        return 0.02 / (2 * num_layers) ** 0.5
    return 0.02
    ### END SOLUTION


# %% [markdown]
# ## Step 2: how wrong it is
#
# A model here gives the logits of all its tokens and its caches, as in assignment 15. To train it, only
# the logits count. The batch has one token more than the model reads: after each token comes the next.
# The loss is the mean over all of them of minus the logarithm of the probability that the right next
# token gets (*cross-entropy*).


# %% exercise="loss_of"
def loss_of(model: Callable[[Tensor], tuple[Tensor, Any]], batch: Tensor) -> Tensor:
    """The mean loss of a model that reads a batch of texts.

    Gradients flow to all parameters that the model uses. The batch stays as it is.

    Args:
        model: called with tokens, `(batch_size, num_tokens)`, it gives their logits,
            `(batch_size, num_tokens, vocab_size)`, and its caches.
        batch: texts, shape `(batch_size, num_tokens + 1)`, whole numbers.

    Returns:
        A single number, shape `()`.

    Example:
        A model that finds all 8 tokens as likely, and ln 8 is 2.0794:

        >>> loss_of(lambda tokens: (torch.zeros(1, 3, 8), None), torch.tensor([[3, 1, 4, 1]]))
        tensor(2.0794)
    """
    # TODO: logits of all tokens but the last; compare them with all tokens but the first.
    ### BEGIN SOLUTION
    logits, _caches = model(batch[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    ### END SOLUTION


# %% [markdown]
# ## Step 3: which token comes next
#
# Always taking the largest logit makes dull texts that go round in circles. So the next token is drawn,
# each with its probability. Two things are set for that:
#
# - All logits are divided by the **temperature**. Below 1 the likely tokens become more likely, above 1
#   all become more alike.
# - Only the `top_k` tokens with the largest logits may be drawn: a thousand unlikely tokens are
#   together likely enough to spoil a text.
#
# To draw, lay the probabilities side by side on a line from 0 to 1, in the order of the tokens. The token
# on whose piece the number lies is drawn: the first with a cumulative sum above the number. Sums are
# rounded, and may all end just below a number next to 1: it draws the last token that may be drawn.


# %% exercise="next_token"
def next_token(logits: Tensor, temperature: float, top_k: int, number: float) -> int:
    """The token that a number in [0, 1) draws.

    The logits stay as they are.

    Args:
        logits: of one place, shape `(vocab_size,)`.
        temperature: what logits are divided by, above 0.
        top_k: how many tokens may be drawn, at most `vocab_size`: those with the largest logits. Of
            several tokens with the smallest of these, you may keep one or all.
        number: from 0, less than 1.

    Returns:
        The number of the token.

    Example:
        Four tokens, two of which may be drawn, both as likely:

        >>> logits = torch.tensor([0.0, 9.0, 1.0, 9.0])
        >>> [next_token(logits, 1.0, 2, number) for number in (0.25, 0.75)]
        [1, 3]
    """
    # TODO: divide, let the others have no chance, probabilities, cumulative sums; where does it lie?
    ### BEGIN SOLUTION
    scaled = logits / temperature
    smallest = scaled.topk(top_k).values[-1]
    probabilities = torch.softmax(scaled.masked_fill(scaled < smallest, -torch.inf), dim=0)
    token = (probabilities.cumsum(dim=0) <= number).sum()
    return int(min(token, probabilities.nonzero().max()))
    ### END SOLUTION


# %% [markdown]
# ## Step 4: write
#
# The loop is that of assignment 15, for one text: the model reads the prompt, then each new token at its
# place, with the caches. Two things are new: how a token is chosen, and when the text ends, after as many
# tokens as there are numbers, or right after the token `stop`. The model does not read the last token.
#
# Here is a small model to try it with. It has no attention; its cache is the sum of what it has read.


# %%
class SumModel(nn.Module):
    """Logits from the sum of all tokens so far and their places, and that sum as the only cache."""

    def __init__(self, vocab_size: int, context_length: int, features: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, features)
        self.places = nn.Embedding(context_length, features)
        self.head = nn.Linear(features, vocab_size)

    def forward(
        self, tokens: Tensor, place: int = 0, caches: Sequence[Tensor] | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """The logits of these tokens, the first of which stands at this place, and the cache."""
        places = torch.arange(place, place + tokens.shape[1])
        x = (self.tokens(tokens) + self.places(places)).cumsum(dim=1)
        x = x if caches is None else x + caches[0]
        return self.head(x), [x[:, -1:]]


# %% exercise="write"
def write(
    model: Callable[..., tuple[Tensor, Any]],
    prompt: Tensor,
    numbers: Sequence[float],
    temperature: float,
    top_k: int,
    stop: int | None = None,
) -> Tensor:
    """The prompt, and behind it what the model writes; no token is read twice.

    The prompt stays as it is. Tokens are drawn by `next_token`, one number for each.

    Args:
        model: called with tokens, `(1, num_new)`, the place of the first of them and the caches of those
            before (`None` at the beginning), it gives logits, `(1, num_new, vocab_size)`, and caches.
        prompt: the text so far, shape `(num_tokens,)`, whole numbers.
        numbers: in [0, 1), one for each token to write, at least one.
        temperature: as `next_token` takes it.
        top_k: as `next_token` takes it.
        stop: the token after which nothing more is written; it is the last of the text. `None` for none.

    Returns:
        Shape `(num_tokens + num_written,)`.

    Example:
        >>> model = SumModel(vocab_size=10, context_length=8, features=6)
        >>> write(model, torch.tensor([3, 1, 4]), [0.5, 0.2, 0.9], temperature=1.0, top_k=10).shape
        torch.Size([6])
    """
    # TODO: for each number: logits of what is unread, at its place; draw, append, perhaps stop.
    ### BEGIN SOLUTION
    unread, place, caches = prompt, 0, None
    for number in numbers:
        logits, caches = model(unread[None], place, caches)
        place += len(unread)
        unread = torch.tensor([next_token(logits[0, -1], temperature, top_k, number)])
        prompt = torch.cat([prompt, unread])
        if unread.item() == stop:
            break
    return prompt
    ### END SOLUTION


# %% [markdown]
# ## Step 5: grouped heads with a cache
#
# Your grouped layer of assignment 16 reads whole texts. Here it reads new tokens alone; the keys and values
# of those before come from a cache. The cache has each key-value head once, and they are repeated after
# that.


# %% exercise="attend"
def attend(layer: Any, x: Tensor, cache: Cache | None, num_heads: int) -> tuple[Tensor, Cache]:
    """The context vectors of new tokens by a grouped layer, and the cache to go on with.

    They are those that the layer, without dropout, gives for the whole text. Gradients flow to all its
    parameters. The new tokens and the cache that is given stay as they are.

    Args:
        layer: your `GroupedQueryAttention`.
        x: the new tokens, shape `(batch_size, num_new, d_in)`.
        cache: keys and values of the tokens before, or `None` at the beginning of a text.
        num_heads: how many heads the layer has.

    Returns:
        The context vectors, shape `(batch_size, num_new, d_out)`, and all keys and all values, each of
        shape `(batch_size, num_kv_heads, num_past + num_new, head_dim)`.

    Example:
        Six heads of two features; two key-value heads. Behind five tokens comes one:

        >>> layer = GroupedQueryAttention(3, 12, 7, 0.0, num_heads=6, num_kv_heads=2)
        >>> _vectors, cache = attend(layer, torch.rand(1, 5, 3), None, 6)
        >>> vectors, (keys, values) = attend(layer, torch.rand(1, 1, 3), cache, 6)
        >>> vectors.shape, keys.shape
        (torch.Size([1, 1, 12]), torch.Size([1, 2, 6, 2]))
    """
    # TODO: queries of the new tokens; longer cache; repeat for the heads, mask, attention, out_proj.
    ### BEGIN SOLUTION
    queries = split_heads(layer.W_query(x), num_heads)
    cache = append_to_cache(cache, *layer.keys_and_values(x))
    keys, values = (repeat_kv(kept, num_heads) for kept in cache)
    mask = causal_mask(x.shape[1], keys.shape[2])
    found = nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    return layer.out_proj(merge_heads(found)), cache
    ### END SOLUTION


# %% [markdown]
# ## The model
#
# It is your GPT, and in each of its blocks is your grouped layer, which reads with a cache.

# %%
# What a model may read at once, the features of a token, the heads, those of keys and values, the blocks.
CONTEXT_LENGTH, FEATURES, NUM_HEADS, NUM_KV_HEADS, NUM_LAYERS = 64, 64, 4, 2, 2


class WritingModel(nn.Module):
    """Your GPT, with grouped queries and a cache."""

    def __init__(self, vocab_size: int, num_kv_heads: int = NUM_KV_HEADS) -> None:
        super().__init__()
        self.gpt: Any = GPT(vocab_size, CONTEXT_LENGTH, FEATURES, NUM_HEADS, NUM_LAYERS)
        for block in self.gpt.h:
            sizes = (FEATURES, FEATURES, CONTEXT_LENGTH, 0.0, NUM_HEADS, num_kv_heads)
            block.attn = GroupedQueryAttention(*sizes)
        for name, parameter in self.named_parameters():
            if ".ln_" not in name:
                nn.init.normal_(parameter, 0.0, initial_std(name, NUM_LAYERS))

    def forward(
        self, tokens: Tensor, place: int = 0, caches: Sequence[Cache | None] | None = None
    ) -> tuple[Tensor, list[Cache]]:
        """The logits of these tokens, the first of which stands at this place, and the caches."""
        x = self.gpt.wte(tokens) + self.gpt.wpe(torch.arange(place, place + tokens.shape[1]))
        kept = []
        for block, cache in zip(self.gpt.h, caches or [None] * NUM_LAYERS, strict=True):
            found, cache = attend(block.attn, block.ln_1(x), cache, NUM_HEADS)
            x = x + found
            x = x + block.mlp(block.ln_2(x))
            kept.append(cache)
        return self.gpt.ln_f(x) @ self.gpt.wte.weight.T, kept


# %% [markdown]
# ## What it reads
#
# The beginning of "Alice's Adventures in Wonderland", printed in 1865 and in the public domain. All
# letters are made small, so that there are fewer tokens.

# %%
TEXT = """\
Alice was beginning to get very tired of sitting by her sister on the
bank, and of having nothing to do: once or twice she had peeped into the
book her sister was reading, but it had no pictures or conversations in
it, 'and what is the use of a book,' thought Alice 'without pictures or
conversations?'

So she was considering in her own mind (as well as she could, for the
hot day made her feel very sleepy and stupid), whether the pleasure
of making a daisy-chain would be worth the trouble of getting up and
picking the daisies, when suddenly a White Rabbit with pink eyes ran
close by her.

There was nothing so VERY remarkable in that; nor did Alice think it so
VERY much out of the way to hear the Rabbit say to itself, 'Oh dear!
Oh dear! I shall be late!' (when she thought it over afterwards, it
occurred to her that she ought to have wondered at this, but at the time
it all seemed quite natural); but when the Rabbit actually TOOK A WATCH
OUT OF ITS WAISTCOAT-POCKET, and looked at it, and then hurried on,
Alice started to her feet, for it flashed across her mind that she had
never before seen a rabbit with either a waistcoat-pocket, or a watch
to take out of it, and burning with curiosity, she ran across the field
after it, and fortunately was just in time to see it pop down a large
rabbit-hole under the hedge.

In another moment down went Alice after it, never once considering how
in the world she was to get out again.

The rabbit-hole went straight on like a tunnel for some way, and then
dipped suddenly down, so suddenly that Alice had not a moment to think
about stopping herself before she found herself falling down a very deep
well.

Either the well was very deep, or she fell very slowly, for she had
plenty of time as she went down to look about her and to wonder what was
going to happen next. First, she tried to look down and make out what
she was coming to, but it was too dark to see anything; then she
looked at the sides of the well, and noticed that they were filled with
cupboards and book-shelves; here and there she saw maps and pictures
hung upon pegs. She took down a jar from one of the shelves as
she passed; it was labelled 'ORANGE MARMALADE', but to her great
disappointment it was empty: she did not like to drop the jar for fear
of killing somebody, so managed to put it into one of the cupboards as
she fell past it.

'Well!' thought Alice to herself, 'after such a fall as this, I shall
think nothing of tumbling down stairs! How brave they'll all think me at
home! Why, I wouldn't say anything about it, even if I fell off the top
of the house!' (Which was very likely true.)

Down, down, down. Would the fall NEVER come to an end! 'I wonder how
many miles I've fallen by this time?' she said aloud. 'I must be getting
somewhere near the centre of the earth. Let me see: that would be four
thousand miles down, I think--' (for, you see, Alice had learnt several
things of this sort in her lessons in the schoolroom, and though this
was not a VERY good opportunity for showing off her knowledge, as there
was no one to listen to her, still it was good practice to say it over)
'--yes, that's about the right distance--but then I wonder what Latitude
or Longitude I've got to?' (Alice had no idea what Latitude was, or
Longitude either, but thought they were nice grand words to say.)

Presently she began again. 'I wonder if I shall fall right THROUGH the
earth! How funny it'll seem to come out among the people that walk with
their heads downward! The Antipathies, I think--' (she was rather glad
there WAS no one listening, this time, as it didn't sound at all the
right word) '--but I shall have to ask them what the name of the country
is, you know. Please, Ma'am, is this New Zealand or Australia?' (and
she tried to curtsey as she spoke--fancy CURTSEYING as you're falling
through the air! Do you think you could manage it?) 'And what an
ignorant little girl she'll think me for asking! No, it'll never do to
ask: perhaps I shall see it written up somewhere.'

Down, down, down. There was nothing else to do, so Alice soon began
talking again. 'Dinah'll miss me very much to-night, I should think!'
(Dinah was the cat.) 'I hope they'll remember her saucer of milk at
tea-time. Dinah my dear! I wish you were down here with me! There are no
mice in the air, I'm afraid, but you might catch a bat, and that's very
like a mouse, you know. But do cats eat bats, I wonder?' And here Alice
began to get rather sleepy, and went on saying to herself, in a dreamy
sort of way, 'Do cats eat bats? Do cats eat bats?' and sometimes, 'Do
bats eat cats?' for, you see, as she couldn't answer either question,
it didn't much matter which way she put it. She felt that she was dozing
off, and had just begun to dream that she was walking hand in hand with
Dinah, and saying to her very earnestly, 'Now, Dinah, tell me the truth:
did you ever eat a bat?' when suddenly, thump! thump! down she came upon
a heap of sticks and dry leaves, and the fall was over.

Alice was not a bit hurt, and she jumped up on to her feet in a moment:
she looked up, but it was all dark overhead; before her was another
long passage, and the White Rabbit was still in sight, hurrying down it.
There was not a moment to be lost: away went Alice like the wind, and
was just in time to hear it say, as it turned a corner, 'Oh my ears
and whiskers, how late it's getting!' She was close behind it when she
turned the corner, but the Rabbit was no longer to be seen: she found
herself in a long, low hall, which was lit up by a row of lamps hanging
from the roof.

There were doors all round the hall, but they were all locked; and when
Alice had been all the way down one side and up the other, trying every
door, she walked sadly down the middle, wondering how she was ever to
get out again.

Suddenly she came upon a little three-legged table, all made of solid
glass; there was nothing on it except a tiny golden key, and Alice's
first thought was that it might belong to one of the doors of the hall;
but, alas! either the locks were too large, or the key was too small,
but at any rate it would not open any of them. However, on the second
time round, she came upon a low curtain she had not noticed before, and
behind it was a little door about fifteen inches high: she tried the
little golden key in the lock, and to her great delight it fitted!

Alice opened the door and found that it led into a small passage, not
much larger than a rat-hole: she knelt down and looked along the passage
into the loveliest garden you ever saw. How she longed to get out of
that dark hall, and wander about among those beds of bright flowers and
those cool fountains, but she could not even get her head through the
doorway; 'and even if my head would go through,' thought poor Alice, 'it
would be of very little use without my shoulders. Oh, how I wish I could
shut up like a telescope! I think I could, if I only knew how to begin.'
""".lower()
CHARACTERS = sorted(set(TEXT))


def to_tokens(text: str) -> Tensor:
    """The number of each character."""
    return torch.tensor([CHARACTERS.index(character) for character in text])


def to_text(tokens: Tensor) -> str:
    """The characters of these numbers."""
    return "".join(CHARACTERS[token] for token in tokens.tolist())


def train(model: WritingModel, num_steps: int, seed: int) -> Iterator[float]:
    """Train a model on pieces of the text, and yield the loss of each step."""
    generator = torch.Generator().manual_seed(seed)
    pieces = to_tokens(TEXT).unfold(0, CONTEXT_LENGTH + 1, 1)
    optimizer = torch.optim.AdamW(model.parameters())
    # The steps grow at first, and get small in the end.
    size = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.006, num_steps, pct_start=0.1)

    def loss_with_gradients(batch: Tensor) -> float:
        model.zero_grad()
        loss = loss_of(model, batch)
        torch.autograd.backward(loss)
        return float(loss.detach())

    for _ in range(num_steps):
        batch = pieces[torch.randint(len(pieces), (32,), generator=generator)]
        yield optimizer.step(partial(loss_with_gradients, batch))
        size.step()


# %% [markdown]
# ## Train, and let it write
#
# What it writes at steps 0, 100 and 500, each time with the same numbers. When do words appear that
# exist, and which of them come from the text? It has 6,944 characters, and the model has read each of
# them many times.

# %%
if __name__ == "__main__":
    from itertools import islice

    from grader.charts import progress, show_curve
    from grader.notebook import experiment

    SEED, NUM_STEPS = 1, 500
    with experiment():
        torch.manual_seed(SEED)
        model = WritingModel(len(CHARACTERS))
        losses: list[float] = []
        numbers = torch.rand(58, generator=torch.Generator().manual_seed(SEED)).tolist()
        steps = progress(train(model, NUM_STEPS, SEED), NUM_STEPS, "loss")
        written = {}
        for upto in (0, 100, NUM_STEPS):
            losses += islice(steps, upto - len(losses))
            with torch.autograd.no_grad():
                text = to_text(write(model, to_tokens("alice "), numbers, 0.7, 20))
            written[upto] = " ".join(text.split())
        show_curve(losses, "loss")
        for step, text in written.items():
            print(f"step {step:3}: {text}")

# %% [markdown] active="ipynb"
# **Experiment.** The same model and the same numbers, at other temperatures. Which text goes round in
# circles, and which has words that there are not?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment(), torch.autograd.no_grad():
#     # The one that is trained above, or else a new one.
#     writer = globals().get("model") or WritingModel(len(CHARACTERS))
#     numbers = torch.rand(58, generator=torch.Generator().manual_seed(1)).tolist()
#     for temperature in (0.1, 0.5, 1.0, 2.0):
#         text = to_text(write(writer, to_tokens("alice "), numbers, temperature, len(CHARACTERS)))
#         print(f"{temperature}: {' '.join(text.split())}")

# %% [markdown] active="ipynb"
# **Experiment.** What do cache and groups save? Counted by torch, for one token behind a text of 60, with
# 4, 2 and 1 key-value heads: what is multiplied with the cache and without, and the bytes of the cache.
# (What `scaled_dot_product_attention` multiplies, torch leaves out.) Which figure goes down with the groups
# in proportion, and is it that of your `kv_cache_bytes` of assignment 16?

# %% active="ipynb"
# from grouped_queries import kv_cache_bytes
# from torch.utils.flop_counter import FlopCounterMode
#
# with experiment(), torch.autograd.no_grad():
#     tokens = to_tokens(TEXT[:61])[None]
#     for num_kv_heads in (4, 2, 1):
#         writer = WritingModel(len(CHARACTERS), num_kv_heads)
#         _logits, caches = writer(tokens[:, :60])
#         flops = []
#         for args in ((tokens[:, 60:], 60, caches), (tokens,)):
#             with FlopCounterMode(display=False) as counter:
#                 writer(*args)
#             flops.append(counter.get_total_flops())
#         kept = sum(tensor.nbytes for cache in caches for tensor in cache)
#         by_sizes = kv_cache_bytes(NUM_LAYERS, NUM_HEADS, num_kv_heads, FEATURES, 60, 4)
#         print(f"{num_kv_heads} key-value heads: {kept:,} bytes, by their sizes {by_sizes:,};")
#         print(f"    {flops[0] // 2:,} multiplications with the cache, {flops[1] // 2:,} without")
