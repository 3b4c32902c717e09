"""Assignment 12 on inputs nobody has seen, and with a model that was trained before."""

import base64
import json
from pathlib import Path

import pytest
import torch

from grader.testing import N_

from ..helpers import OF_CONTEXT_VECTORS
from .helpers import FEATURES, batch, block, judge_losses, parameters, trained

TRAINED = Path(__file__).with_name("trained.json")
"""The parameters of the solution's model after training; `tests/course/train_it.py` made them."""

NUM_TOKENS, NUM_LETTERS = 24, 26
PARTS = (N_("the inputs"), N_("the targets"))


def stored_model():
    """The parameters of a trained model, by name; kept as float16 to be small."""
    stored = json.loads(TRAINED.read_text("utf-8"))
    numbers = torch.frombuffer(bytearray(base64.b64decode(stored["float16"])), dtype=torch.float16)
    sizes = [torch.Size(shape).numel() for shape in stored["shapes"].values()]
    pieces = numbers.float().split(sizes)
    return {
        name: piece.reshape(shape)
        for (name, shape), piece in zip(stored["shapes"].items(), pieces, strict=True)
    }


def of_layer(model, number):
    """The parameters of the layer in one of a model's blocks."""
    start = f"blocks.{number}.attention."
    return {name.removeprefix(start): v for name, v in model.items() if name.startswith(start)}


def letters(draw, batch_size, period):
    """Texts that repeat themselves after so many letters, one letter more than a model reads."""
    repeated = torch.arange(NUM_TOKENS + 1) % period
    return torch.stack([draw.permutation(NUM_LETTERS)[repeated] for _ in range(batch_size)])


@pytest.mark.exercise("inputs_and_targets")
class TestInputsAndTargets:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_targets_are_the_next_tokens")
    def test_unseen_texts(self, attempt, judge, draw):
        """Texts of another length should give the right inputs and targets, too."""
        texts = torch.stack([draw.permutation(9) for _ in range(4)])
        called = attempt(texts)
        for found, right, what in zip(called.value, called.expected, PARTS, strict=False):
            judge(found, right, what=what)


@pytest.mark.exercise("AttentionBlock")
class TestAttentionBlock:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_what_attention_finds_is_added")
    def test_unseen_texts(self, attempt, draw):
        """Other parameters and texts should give the right result, too."""
        one = block(attempt, parameters(draw, 8), context_length=6, num_heads=2)
        one(draw.normal(3, 6, 8), training=False).agrees(axes=OF_CONTEXT_VECTORS)

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_what_attention_finds_is_added")
    def test_trained_blocks_continue_texts(self, attempt, judge, draw):
        """With trained parameters, two of your blocks should continue texts as they were trained to."""
        model, texts = stored_model(), letters(draw, 8, 9)
        inputs, targets = texts[:, :-1], texts[:, 1:]
        x = right = model["letters.weight"][inputs] + model["places.weight"]
        for number in range(2):
            one = block(attempt, of_layer(model, number), context_length=NUM_TOKENS, num_heads=2)
            x = one(x, training=False).has_shape(8, NUM_TOKENS, x.shape[-1]).detach()
            right = attempt.reference.call(one.solution, right, training=False).value.detach()
        shares = []
        for found in (x, right):
            scores = found @ model["scores.weight"].T + model["scores.bias"]
            shares.append((scores.argmax(dim=-1) == targets)[:, 9:].float().mean())
        judge(*shares, what="the share of letters that are continued right")


@pytest.mark.exercise("training_step")
class TestTrainingStep:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_loss_is_that_before_the_step")
    def test_unseen_losses(self, student, reference, judge, draw):
        """The losses of four steps on other texts should be right, too."""
        steps = draw.normal(26, 26), 7.0, [batch(draw, 2, 7, 1) for _step in range(4)]
        judge_losses(judge, *(trained(handle, *steps)[0] for handle in (student, reference)))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_parameter_moves_against_its_gradient")
    def test_unseen_texts(self, student, reference, judge, draw):
        """Other texts should move the parameters where they should, too."""
        steps = draw.normal(26, 26), 5.0, [batch(draw, 4, 3) for _step in range(2)]
        judge(*(trained(handle, *steps)[1] for handle in (student, reference)))


@pytest.mark.exercise("head_weights")
class TestHeadWeights:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_weights_of_each_head")
    def test_unseen_queries_and_keys(self, attempt, draw):
        """Other sizes should give the right result, too."""
        attempt(draw.normal(3, 4, 10), draw.normal(3, 4, 10), 2).agrees()

    @pytest.mark.deepens("test_the_weights_of_each_head")
    def test_a_single_head(self, attempt, draw):
        """A single head should use all features."""
        attempt(draw.normal(2, 5, FEATURES), draw.normal(2, 5, FEATURES), 1).agrees()


@pytest.mark.exercise("switch_off_head")
class TestSwitchOffHead:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_columns_of_the_head_are_zero")
    def test_unseen_weights(self, attempt, draw):
        """Other sizes should give the right result, too."""
        attempt(draw.normal(10, 10), 3, 5).agrees()

    @pytest.mark.deepens("test_the_columns_of_the_head_are_zero")
    def test_a_head_of_the_trained_layer(self, attempt):
        """A trained layer should lose the head that is named, and nothing else."""
        attempt(of_layer(stored_model(), 0)["out_proj.weight"], 1, 2).agrees()
