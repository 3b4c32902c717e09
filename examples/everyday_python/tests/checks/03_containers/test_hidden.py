"""Assignment 03 on inputs nobody has seen."""

import pytest

from grader.testing import beside_student


@beside_student
def reversed_twice(twice, text):
    """Its own function, which no stub has."""
    seen = []
    return twice(lambda part: seen.append(part) or part[::-1] + "-", text), seen


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


@pytest.mark.exercise("Pairs")
class TestPairs:
    @pytest.mark.weight(2)
    @pytest.mark.conduct
    @pytest.mark.deepens("test_there_are_as_many_as_inputs")
    def test_fewer_inputs_are_counted(self, attempt, draw):
        """One input should make a length of 1."""
        attempt.instance(draw.array(1, 2), draw.array(1))(method="__len__").gives(1)

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_an_example_is_an_input_and_a_target")
    def test_other_examples(self, attempt, draw):
        """Other examples should be inputs with their targets."""
        attempt.instance(draw.array(4, 3), draw.array(4))(2, method="__getitem__").agrees()


@pytest.mark.exercise("twice")
class TestTwice:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_it_is_shouted_twice")
    def test_another_function(self, attempt):
        """Another function should be called on what it returned."""
        attempt.through(reversed_twice)("abc").agrees()
