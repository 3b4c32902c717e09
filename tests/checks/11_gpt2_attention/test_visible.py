"""What students see of assignment 11: the document's configuration and counts, plain properties."""

import pytest
import torch

from grader.testing import N_, StudentOutcome, describe
from grader.testing.mixins import KeepsNames

from ..helpers import SHOWING, MultiHead, judge_surplus, zero_biases
from .helpers import make, named, numbers, twice

# 004's configuration, and what its code gives: (2, 10, 768) stays (2, 10, 768), and four layers of
# 768 × 768 weights with one bias of 768 have 2,360,064 parameters.
GPT2_SIZES = {"d_in": 768, "d_out": 768, "context_length": 1024}
GPT2_HEADS, GPT2_DROPOUT, GPT2_PARAMETERS = 12, 0.1, 2_360_064


@pytest.mark.exercise("GPT2_CONFIG")
@pytest.mark.guessable("It is a constant, of names and whole numbers.")
class TestGPT2Config:
    @pytest.mark.gate
    def test_it_is_a_dictionary_by_the_names_of_the_arguments(self, student, judge):
        """It should be a dictionary that has the names of the layer's arguments."""
        config = student.get("GPT2_CONFIG")
        is_dict, kind = isinstance(config, dict), describe(config, str)
        sentence = judge.words("It is {kind}, not a dictionary", kind=describe(config))
        if isinstance(config, tuple) and len(config) == 1:
            sentence = N_("It is a tuple: is there a comma at the end of the line that sets it?")
        judge.that(is_dict, sentence, about=None if is_dict else kind)
        names = (*GPT2_SIZES, "num_heads", "dropout")
        is_whole = all(name in config for name in names)
        found = dict.fromkeys(names if is_whole else config, "an entry")
        judge(found, dict.fromkeys(names, "an entry"), what="its names")

    @pytest.mark.weight(2)
    def test_the_sizes_are_those_of_the_text(self, student, judge):
        """Tokens and context vectors should have 768 features, and a text up to 1024 tokens."""
        config = student.get("GPT2_CONFIG")
        judge({name: config.get(name) for name in GPT2_SIZES}, GPT2_SIZES, what="the sizes")

    @pytest.mark.weight(2)
    def test_there_are_twelve_heads(self, student, judge):
        """There should be 12 heads, of 64 features each."""
        judge(student.get("GPT2_CONFIG").get("num_heads"), GPT2_HEADS, what="num_heads")

    def test_a_tenth_of_the_weights_is_dropped(self, student, judge):
        """The probability of dropout should be 0.1."""
        judge(student.get("GPT2_CONFIG").get("dropout"), GPT2_DROPOUT, what="dropout")

    def test_there_is_nothing_the_layer_does_not_know(self, student, judge):
        """It should have no other entries, except perhaps `qkv_bias`, which is False."""
        known = {*GPT2_SIZES, "num_heads", "dropout"}
        config = student.get("GPT2_CONFIG")
        others = {name: value for name, value in config.items() if name not in known}
        judge({"qkv_bias": False, **others}, {"qkv_bias": False}, what="its other entries")

    @pytest.mark.remark
    def test_it_has_five_entries(self, student, judge):
        """It should have the five entries of the text alone."""
        others = [name for name in student.get("GPT2_CONFIG") if name == "qkv_bias"]
        sentence = N_("`qkv_bias` is not one of the five: without an entry it is False as well")
        judge.that(not others, sentence)


def module_to_count(student, name):
    """A module that stands in the stub; where a file has none, one of torch's of the same kind."""
    try:
        module = student.get(name)
    except StudentOutcome as outcome:
        if outcome.failure.kind != "missing":
            raise
        module = None
    if getattr(module, "kind", "") == "module":
        return module
    layer = student.call("nn.Linear", 4, 4).value
    return layer if name == "SHARED_LAYER" else twice(student, layer, 4)


@pytest.mark.exercise("count_parameters")
class TestCountParameters(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_whole_number(self, attempt, student, judge):
        """The result should be a whole number."""
        value = attempt(module_to_count(student, "SHARED_LAYER")).value
        is_tensor = isinstance(value, torch.Tensor) and value.numel() == 1
        value = value.item() if is_tensor else value
        template = N_("It answered something of type {type}, not a whole number")
        sentence = judge.words(template, type=type(value).__name__)
        judge.that(type(value) is int, sentence)

    @pytest.mark.remark
    def test_it_is_a_plain_number(self, attempt, student, judge):
        """The result should be an `int`, as the signature says."""
        value = attempt(module_to_count(student, "SHARED_LAYER")).value
        judge.that(not isinstance(value, torch.Tensor), "It is a tensor of one number")

    def test_weights_and_biases_count(self, attempt, student):
        """All weights and biases of a linear layer should count."""
        module = module_to_count(student, "SHARED_LAYER")
        state = student.state(module)
        # Equal values, so that their sum shows.
        values = {name: torch.full_like(p, 3.0) for name, p in state.parameters.items()}
        student.load(module, values)
        attempt(module).gives(numbers(state), any_type=True)

    @pytest.mark.weight(2)
    def test_shared_parameters_count_once_and_buffers_never(self, attempt, student):
        """All parameters should count, those of inner modules, too: once where used twice. Buffers should not."""
        module = module_to_count(student, "EXAMPLE_MODEL")
        expected = numbers(student.state(module))
        attempt(module).gives(expected, any_type=True)


@pytest.mark.exercise("GPT2MultiHeadAttention")
class TestGPT2MultiHeadAttention(KeepsNames, MultiHead):
    make = staticmethod(make)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_with_a_context_vector_for_each_token(self, attempt, judge, draw):
        """It should be a module that gives float32 vectors, (batch_size, num_tokens, d_out)."""
        layer = self.layer(attempt)
        judge(getattr(layer.own, "kind", ""), "module", what="what the class makes")
        layer(draw.normal(*self.texts)).has_shape(*self.vectors)

    # What students should read first.
    test_the_parameters_have_the_names_and_shapes_of_the_text = (
        MultiHead.test_the_parameters_have_the_names_and_shapes_of_the_text
    )
    test_the_context_vectors_for_given_parameters = (
        MultiHead.test_the_context_vectors_for_given_parameters
    )
    test_a_single_token_sees_itself = MultiHead.test_a_single_token_sees_itself
    test_the_future_does_not_leak = MultiHead.test_the_future_does_not_leak

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_at_the_size_of_gpt2_there_are_2360064_parameters(self, attempt, judge, draw):
        """At GPT-2's size, (2, 10, 768) should stay (2, 10, 768), with 2,360,064 parameters."""
        layer = attempt.instance(**GPT2_SIZES, num_heads=GPT2_HEADS, dropout=GPT2_DROPOUT)
        layer(draw.normal(2, 10, 768)).has_shape(2, 10, 768)
        # Without biases when told so; then without being told.
        judge_surplus(judge, self.layer(attempt).state)
        state = attempt.student.state(layer.own, values=False)
        judge_surplus(judge, state)
        judge(numbers(state), GPT2_PARAMETERS, what="how many parameters it has")

    @pytest.mark.conduct
    def test_the_number_of_heads_comes_before_dropout(self, attempt, draw):
        """Unnamed arguments should be d_in, d_out, context_length, num_heads, dropout, in order."""
        values, x = self.drawn(draw), draw.normal(*self.texts)
        sizes = (self.d_in, self.d_out, self.context_length, self.num_heads, 0.0)
        how = {"given": values, "spare": zero_biases(values), "exact": True}
        layer = attempt.instance(*sizes, **how)
        by_name = self.given(attempt, values)(x, training=False).has_shape(*self.vectors)
        layer(x, training=False).gives(by_name)

    @pytest.mark.conduct
    def test_a_tenth_is_dropped_unless_said_otherwise(self, attempt, judge, draw):
        """Without an argument for it, the dropout should be 0.1."""
        values = SHOWING.parameters(draw)
        how = {"given": values, "spare": zero_biases(values), "exact": True}
        results = []
        for dropout in ({}, {"dropout": 0.1}):
            layer = attempt.instance(**named(*SHOWING.sizes), **dropout, **how)
            weights, _ = SHOWING.shown(layer(SHOWING.eye, training=True, seed=1))
            # What is kept is scaled alike in every draw; of 16 copies each weight is kept in one.
            results.append(weights.amax(dim=0))
        is_same = torch.allclose(*results, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "Without an argument it does not do what dropout=0.1 does")

    @pytest.mark.conduct
    def test_heads_that_do_not_fit_are_refused(self, attempt, judge):
        """Making it should fail when d_out is not a multiple of num_heads, and only then."""
        fits, refused = (
            attempt.student.refusal(attempt.own, **named(*sizes), dropout=0.0)
            for sizes in ((3, 4, 6, 2), (4, 5, 6, 2))
        )
        judge.that(fits is None, "4 features were to be shared by 2 heads, and that was refused")
        sentence = N_("5 features were to be shared by 2 heads, and nothing was raised")
        judge.that(refused is not None, sentence)
