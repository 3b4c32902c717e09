# %% [markdown]
# # 3. Containers
#
# What keeps things, and gives them back.

# %%
from collections.abc import Callable

import numpy as np


def shout(text: str) -> str:
    """A text as it is shouted, for `twice` to be tried with."""
    return f"{text.upper()}!"


# %% [markdown]
# ## A heap
#
# Whatever comes in, the smallest comes out first.


# %% exercise="Heap"
class Heap:
    """Numbers, of which the smallest comes back first."""

    def __init__(self) -> None:
        # TODO: begin without numbers.
        ### BEGIN SOLUTION
        self.numbers: list[int] = []
        ### END SOLUTION

    def push(self, number: int) -> None:
        """Keep a number."""
        # TODO: keep it.
        ### BEGIN SOLUTION
        self.numbers.append(number)
        ### END SOLUTION

    def pop(self) -> int:
        """Give the smallest number back, and keep it no longer.

        Raises:
            IndexError: when there is none.
        """
        # TODO: find the smallest number, and take it out.
        ### BEGIN SOLUTION
        if not self.numbers:
            raise IndexError("the heap is empty")
        return self.numbers.pop(self.numbers.index(min(self.numbers)))
        ### END SOLUTION

    def __len__(self) -> int:
        """How many numbers there are."""
        # TODO: count them.
        ### BEGIN SOLUTION
        return len(self.numbers)
        ### END SOLUTION


# %% [markdown]
# ## Bytes
#
# To a computer a text is bytes; those that often stand side by side become one token.


# %% exercise="Tokenizer"
class Tokenizer:
    """Texts as bytes, and the pairs of bytes that stand side by side in them."""

    def encode(self, text: str) -> bytes:
        """The bytes of a text in UTF-8.

        Example:
            >>> Tokenizer().encode("ab")
            b'ab'
        """
        # TODO: encode the text.
        ### BEGIN SOLUTION
        return text.encode("utf-8")
        ### END SOLUTION

    def pairs(self, data: bytes) -> set[tuple[int, int]]:
        """Each pair of neighbours, once."""
        # TODO: collect the pairs.
        ### BEGIN SOLUTION
        return {(data[i], data[i + 1]) for i in range(len(data) - 1)}
        ### END SOLUTION


# %% [markdown]
# ## Pairs
#
# A data set is whatever has a length and entries.


# %% exercise="Pairs"
class Pairs:
    """A data set of inputs and targets.

    Args:
        inputs: shape `(num_examples, d_in)`.
        targets: shape `(num_examples,)`.
    """

    def __init__(self, inputs: np.ndarray, targets: np.ndarray) -> None:
        # TODO: keep both.
        ### BEGIN SOLUTION
        self.inputs, self.targets = inputs, targets
        ### END SOLUTION

    def __len__(self) -> int:
        """How many examples there are."""
        # TODO: count them.
        ### BEGIN SOLUTION
        return len(self.inputs)
        ### END SOLUTION

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """One example: its input and its target."""
        # TODO: take one of each.
        ### BEGIN SOLUTION
        return self.inputs[index], self.targets[index]
        ### END SOLUTION


# %% [markdown]
# ## Functions
#
# A function can be handed over like any other value.


# %% exercise="twice"
def twice(function: Callable[[str], str], text: str) -> str:
    """What a function makes of what it makes of a text.

    Example:
        >>> twice(shout, "hey")
        'HEY!!'
    """
    # TODO: call the function on what it returned.
    ### BEGIN SOLUTION
    return function(function(text))
    ### END SOLUTION
