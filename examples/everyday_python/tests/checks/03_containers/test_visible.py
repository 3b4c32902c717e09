"""What students see of assignment 03."""

import numpy as np
import pytest

INPUTS = np.arange(6, dtype="float32").reshape(3, 2)
TARGETS = np.array([1.0, -1.0, 2.0], dtype="float32")


def filled(handle, numbers):
    """A heap that has these numbers."""
    heap = handle.call("Heap").value
    for number in numbers:
        handle.call(heap, number, method="push")
    return heap


@pytest.mark.exercise("Heap")
class TestHeap:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_heap_counts_its_numbers(self, student, judge):
        """A heap of three numbers should have a length of 3."""
        heap = filled(student, (3, 1, 2))
        judge(student.call(heap, method="__len__").value, 3)

    def test_the_smallest_number_comes_first(self, student, judge):
        """Of 3, 1 and 2, the number 1 should come back first."""
        heap = filled(student, (3, 1, 2))
        judge(student.call(heap, method="pop").value, 1)

    def test_an_empty_heap_refuses(self, student, judge):
        """An empty heap should raise an IndexError."""
        failure = student.refusal(filled(student, ()), method="pop")
        judge.that(failure is not None and failure.type == "IndexError", "There is no IndexError")


@pytest.mark.exercise("Tokenizer")
class TestTokenizer:
    @pytest.mark.gate
    def test_texts_become_bytes(self, student, judge):
        """A text should become its bytes."""
        tokenizer = student.call("Tokenizer").value
        judge(student.call(tokenizer, "déjà", method="encode").value, "déjà".encode())

    @pytest.mark.weight(2)
    def test_neighbours_are_pairs(self, student, reference, judge):
        """Each pair of neighbours should come back."""
        found = [
            handle.call(handle.call("Tokenizer").value, b"abcab", method="pairs").value
            for handle in (student, reference)
        ]
        judge(*found)


@pytest.mark.exercise("Pairs")
class TestPairs:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_are_as_many_as_inputs(self, attempt):
        """Three inputs should make a length of 3."""
        attempt.instance(INPUTS, TARGETS)(method="__len__").gives(3)

    def test_an_example_is_an_input_and_a_target(self, attempt):
        """The second example should be the second input with the second target."""
        attempt.instance(INPUTS, TARGETS)(1, method="__getitem__").agrees()


@pytest.mark.exercise("twice")
class TestTwice:
    @pytest.mark.gate
    def test_it_is_shouted_twice(self, attempt, student):
        """Shouted twice, "hey" should have two exclamation marks."""
        attempt(student.function("shout"), "hey").gives("HEY!!")
