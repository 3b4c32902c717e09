# %% [markdown]
# # 1. Containers
#
# What keeps things, and gives them back.


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
