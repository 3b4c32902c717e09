"""Assignment 01 on inputs nobody has seen."""

import pytest


@pytest.mark.exercise("Heap")
class TestHeap:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_the_smallest_number_comes_first")
    def test_all_numbers_come_back(self, student, judge):
        """All numbers should come back, the smallest first."""
        heap = student.call("Heap").value
        for number in (5, 9, -2):
            student.call(heap, number, method="push")
        judge([student.call(heap, method="pop").value for _ in range(3)], [-2, 5, 9])

    @pytest.mark.weight(4)
    @pytest.mark.conduct
    @pytest.mark.deepens("test_a_heap_counts_its_numbers")
    def test_fewer_numbers_count_less(self, student, judge):
        """A number that came back should count no longer."""
        heap = student.call("Heap").value
        student.call(heap, 4, method="push")
        student.call(heap, method="pop")
        judge(student.call(heap, method="__len__").value, 0)


@pytest.mark.exercise("Tokenizer")
class TestTokenizer:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_texts_become_bytes")
    def test_other_texts_become_bytes(self, student, judge):
        """Another text should become its bytes."""
        tokenizer = student.call("Tokenizer").value
        judge(student.call(tokenizer, "naïve", method="encode").value, "naïve".encode())

    @pytest.mark.deepens("test_neighbours_are_pairs")
    def test_neighbours_of_other_bytes(self, student, judge):
        """Pairs of other bytes should come back."""
        tokenizer = student.call("Tokenizer").value
        value = student.call(tokenizer, b"xyxz", method="pairs").value
        judge(value, {(120, 121), (121, 120), (120, 122)})
