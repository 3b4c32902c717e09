"""What students see of assignment 03: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_, describe

JOURNEY = 1
D_K = 2
# All different, and unlike the documents' (6 tokens of 3) and the hidden checks'.
NUM_TOKENS, D_IN, D_OUT = 4, 5, 7
PARTS = (N_("query"), N_("key"), N_("value"))

# 004 prints nothing; these figures were obtained by running its code: seed 123, `randn(3, 2)` for
# query, key and value, and [0.55, 0.87, 0.64] as the second token.
QUERY_004 = torch.tensor([-1.1489, -0.0090])
OWN_SCORE_004 = torch.tensor(0.1429)
SCORES_004 = torch.tensor([0.2157, 0.1429, 0.1728, -0.0466, 0.7489, -0.3717])
WEIGHTS_004 = torch.tensor([0.1704, 0.1618, 0.1653, 0.1416, 0.2484, 0.1125])
CONTEXT_004 = torch.tensor([0.2857, 0.4106])

# Figures with 4 decimals: half a unit of the last digit.
FOUR_DECIMALS = 5.1e-5

# Operands printed to 4 decimals carry half a unit of their last digit into the result, which was
# rounded itself. What they are multiplied with, at most: a token, whose entries sum to 2.08;
ROUNDED_PROJECTION = 1.6e-4
# a query and a key, whose entries sum to 1.89 and 1.59;
ROUNDED_SCORES = 2.3e-4
# the softmax, which flattens differences of the scores (by 0.35 with such weights, over root 2);
ROUNDED_WEIGHTS = 6.6e-5
# a column of values, which sums to 4.54, and weights that sum to 1 for the values' own 1.04e-4.
ROUNDED_MIXTURE = 3.9e-4


def inputs_004(printed):
    """The six tokens as 004 has them."""
    inputs = printed("T45").tensor.clone()
    inputs[JOURNEY, 2] = 0.64
    return inputs


def weights_004(reference):
    """The weights of 004 for query, key and value."""
    weights = reference.call("init_weights_normal", 3, 2, seed=123).value
    return tuple(weight.detach() for weight in weights)


def values_of(printed):
    """The values of the six tokens."""
    return printed("T45").tensor @ printed("T42").tensor


def three(judge, value, shape):
    """Judge that a value is three weight matrices of this shape, and return them."""
    is_three = isinstance(value, list | tuple) and len(value) == 3
    sentence = judge.words(
        "Expected three weights as a tuple, received {value}", value=describe(value)
    )
    judge.that(is_three, sentence)
    for weight in value:
        judge.shape(weight, shape)
    return value


def evenly_spread(judge, weight, name):
    """Judge 2,000 numbers by the uniform distribution from 0 to 1."""
    # Over 6 standard errors of 2,000 numbers: 0.0065 for the mean, 0.003 for the deviation.
    judge(
        weight.mean(),
        torch.tensor(0.5),
        atol=0.05,
        what=judge.words("the mean of the {name} weight", name=name),
    )
    what = judge.words("the standard deviation of the {name} weight", name=name)
    judge(weight.std(), torch.tensor(12**-0.5), atol=0.03, what=what)
    judge.that(
        bool((weight >= 0).all()), judge.words("The {name} weight has negative numbers", name=name)
    )
    judge.that(
        bool((weight <= 1).all()), judge.words("The {name} weight has numbers above 1", name=name)
    )


def normally_distributed(judge, weight, name):
    """Judge 2,000 numbers by the standard normal distribution."""
    # Over 6 standard errors of 2,000 numbers: 0.0224 for the mean, 0.016 for the deviation.
    judge(
        weight.mean(),
        torch.tensor(0.0),
        atol=0.15,
        what=judge.words("the mean of the {name} weight", name=name),
    )
    what = judge.words("the standard deviation of the {name} weight", name=name)
    judge(weight.std(), torch.tensor(1.0), atol=0.1, what=what)
    # All of 2,000 normal numbers within 1.8: a probability of 1e-65.
    sentence = judge.words("The {name} weight has no number far from 0", name=name)
    judge.that(bool((weight.abs() > 1.8).any()), sentence)


def differ_from_call_to_call(judge, first, second):
    """Judge that no weight is the same in both calls, and no two in one call."""
    for one, other, name in zip(first, second, PARTS, strict=True):
        same = torch.equal(one, other)
        sentence = judge.words("The {name} weight was the same after another seed", name=name)
        judge.that(not same, sentence, about=other)
    pairs = [(i, j) for i, j in ((0, 1), (0, 2), (1, 2)) if torch.equal(first[i], first[j])]
    one, other = pairs[0] if pairs else (0, 0)
    sentence = judge.words(
        "The {one} weight and the {other} weight are the same", one=PARTS[one], other=PARTS[other]
    )
    judge.that(not pairs, sentence, about=pairs)


class KeepsNames:
    """A remark on parameters with other names than the stub's."""

    @pytest.mark.remark
    def test_the_parameters_keep_their_names(self, student, reference, judge):
        """The parameters should keep the names they have in the stub."""
        name = student.exercise.name
        found, right = (", ".join(handle.parameters(name)) for handle in (student, reference))
        sentence = judge.words(
            "They are {found}, and in the stub {right}", found=found, right=right
        )
        judge.that(found == right, sentence)


@pytest.mark.exercise("init_weights")
class TestInitWeights(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_are_three_matrices(self, student, judge):
        """The result should be three float32 matrices of shape `(d_in, d_out)`."""
        three(judge, student.call("init_weights", 3, 2, seed=1).value, (3, 2))

    @pytest.mark.remark
    def test_the_three_come_as_a_tuple(self, student, judge):
        """The three should come back as a tuple."""
        value = student.call("init_weights", 3, 2, seed=1).value
        judge.that(isinstance(value, tuple), "It is a list, and the signature says a tuple")

    def test_each_weight_is_a_parameter(self, student, judge):
        """Each weight should be an `nn.Parameter`."""
        weights = three(judge, student.call("init_weights", 3, 2, seed=1).value, (3, 2))
        kinds = [isinstance(weight, torch.nn.Parameter) for weight in weights]
        judge(kinds, [True] * 3, what="whether it is an nn.Parameter")

    @pytest.mark.conduct
    def test_no_weight_requires_gradients(self, student, judge):
        """The weights should require no gradients."""
        weights = three(judge, student.call("init_weights", 3, 2, seed=1).value, (3, 2))
        needs = [weight.requires_grad for weight in weights]
        judge(needs, [False] * 3, what="whether it requires gradients")

    def test_the_weights_are_drawn_in_the_documents_order(self, student, judge, printed):
        """Seed 123 should give the example's weights, if drawn in the order query, key, value."""
        weights = three(judge, student.call("init_weights", 3, 2, seed=123).value, (3, 2))
        for weight, id_, name in zip(weights, ("T40", "T41", "T42"), PARTS, strict=True):
            judge(
                weight,
                printed(id_),
                what=judge.words("the {name} weight", name=name),
                axes=("row", "column"),
            )

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_the_numbers_spread_from_zero_to_one(self, student, judge):
        """The numbers should be spread evenly from 0 to 1."""
        weights = three(judge, student.call("init_weights", 40, 50, seed=1).value, (40, 50))
        for weight, name in zip(weights, PARTS, strict=True):
            evenly_spread(judge, weight, name)

    def test_each_call_draws_anew(self, student, judge):
        """The three weights should differ, and another seed before the call should give others."""
        first = three(judge, student.call("init_weights", 3, 2, seed=1).value, (3, 2))
        second = three(judge, student.call("init_weights", 3, 2, seed=2).value, (3, 2))
        differ_from_call_to_call(judge, first, second)


@pytest.mark.exercise("init_weights_normal")
class TestInitWeightsNormal(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_are_three_matrices(self, student, judge):
        """The result should be three float32 matrices of shape `(d_in, d_out)`."""
        three(judge, student.call("init_weights_normal", 3, 2, seed=1).value, (3, 2))

    @pytest.mark.remark
    def test_the_three_come_as_a_tuple(self, student, judge):
        """The three should come back as a tuple."""
        value = student.call("init_weights_normal", 3, 2, seed=1).value
        judge.that(isinstance(value, tuple), "It is a list, and the signature says a tuple")

    def test_each_weight_is_a_parameter(self, student, judge):
        """Each weight should be an `nn.Parameter`."""
        weights = three(judge, student.call("init_weights_normal", 3, 2, seed=1).value, (3, 2))
        kinds = [isinstance(weight, torch.nn.Parameter) for weight in weights]
        judge(kinds, [True] * 3, what="whether it is an nn.Parameter")

    def test_each_weight_requires_gradients(self, student, judge):
        """The weights should require gradients."""
        weights = three(judge, student.call("init_weights_normal", 3, 2, seed=1).value, (3, 2))
        needs = [weight.requires_grad for weight in weights]
        judge(needs, [True] * 3, what="whether it requires gradients")

    def test_the_weights_are_drawn_in_the_documents_order(self, student, judge, printed):
        """Seed 123 should give the example's query, if drawn in the order query, key, value."""
        answer = student.call("init_weights_normal", 3, 2, seed=123)
        w_query, w_key, w_value = three(judge, answer.value, (3, 2))
        inputs = inputs_004(printed)
        query, keys, values = inputs[JOURNEY] @ w_query, inputs @ w_key, inputs @ w_value
        judge(query, QUERY_004, atol=FOUR_DECIMALS, what="its query")
        judge(keys @ query, SCORES_004, atol=FOUR_DECIMALS, what="its scores", axes=("token",))
        weights = torch.softmax(keys @ query / D_K**0.5, dim=-1)
        judge(weights @ values, CONTEXT_004, atol=FOUR_DECIMALS, what="its context vector")

    @pytest.mark.weight(2)
    def test_the_numbers_are_normally_distributed(self, student, judge):
        """The numbers should have mean 0 and standard deviation 1."""
        weights = three(judge, student.call("init_weights_normal", 40, 50, seed=1).value, (40, 50))
        for weight, name in zip(weights, PARTS, strict=True):
            normally_distributed(judge, weight, name)

    def test_each_call_draws_anew(self, student, judge):
        """The three weights should differ, and another seed before the call should give others."""
        first = three(judge, student.call("init_weights_normal", 3, 2, seed=1).value, (3, 2))
        second = three(judge, student.call("init_weights_normal", 3, 2, seed=2).value, (3, 2))
        differ_from_call_to_call(judge, first, second)


@pytest.mark.exercise("project")
class TestProject(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_one_token_gives_one_vector(self, student, judge, printed):
        """One token times a square weight should be one float32 vector of the same size."""
        value = student.call("project", printed("T39").tensor, torch.eye(3)).value
        judge.shape(value, (3,))

    def test_a_weight_of_zeros_gives_zeros(self, student, judge, draw):
        """A weight of zeros should give zeros: no numbers but the given ones take part."""
        value = student.call("project", draw.normal(NUM_TOKENS, D_IN), torch.zeros(D_IN, D_OUT))
        judge(value.value, torch.zeros(NUM_TOKENS, D_OUT), axes=("token", "feature"))

    def test_query_key_and_value_of_journey_as_printed(self, student, judge, printed):
        """The example's weights should give "journey" the example's query, key and value."""
        for weight, id_, name in (("T40", "T11", N_("query")), ("T41", "T43", N_("key"))):
            value = student.call("project", printed("T39").tensor, printed(weight).tensor).value
            judge(
                value,
                printed(id_),
                atol=ROUNDED_PROJECTION,
                what=judge.words("its {name}", name=name),
            )
        value = student.call("project", printed("T39").tensor, printed("T42").tensor).value
        judge(value, printed("T44"), atol=ROUNDED_PROJECTION, what="its value")

    @pytest.mark.weight(2)
    def test_queries_and_keys_of_all_tokens_as_printed(self, student, judge, printed):
        """The example's weights should give all tokens the example's queries and keys."""
        for weight, id_, name in (("T40", "T46", N_("queries")), ("T41", "T47", N_("keys"))):
            value = student.call("project", printed("T45").tensor, printed(weight).tensor).value
            atol, what = ROUNDED_PROJECTION, judge.words("the {name}", name=name)
            judge(value, printed(id_), atol=atol, what=what, axes=("token", "feature"))

    def test_the_query_of_another_text_as_obtained(self, student, reference, judge, printed):
        """Normally distributed weights and another second token should give the right query."""
        w_query = weights_004(reference)[0]
        value = student.call("project", inputs_004(printed)[JOURNEY], w_query).value
        judge(value, QUERY_004, atol=FOUR_DECIMALS, axes=("feature",))

    def test_a_square_weight_is_taken_as_it_is(self, student, judge):
        """A square weight should take tokens as they stand, a matrix of one as well: nothing is transposed."""
        weight = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [-1.0, 0.0, 1.0]])
        x = torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [2.0, 0.0, -1.0]])
        expected = torch.tensor([[-2.0, 4.0, 9.0], [0.0, 1.0, 3.0], [3.0, 4.0, -1.0]])
        # A matrix of one token, too, gives a matrix.
        for count in (3, 1):
            value = student.call("project", x[:count], weight).value
            judge(value, expected[:count], axes=("token", "feature"))

    def test_gradients_reach_token_and_weight(self, student, reference, judge, draw):
        """Gradients should flow to the tokens and to the weight."""
        x, weight = draw.normal(NUM_TOKENS, D_IN), draw.normal(D_IN, D_OUT)
        cotangent = draw.normal(NUM_TOKENS, D_OUT)
        mine = student.call("project", x, weight, cotangent=cotangent).gradients
        right = reference.call("project", x, weight, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the tokens")
        judge(mine.arguments["1"], right.arguments["1"], what="the gradient for the weight")

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """Tokens and weight should stay as they are."""
        answer = student.call("project", draw.normal(NUM_TOKENS, D_IN), draw.normal(D_IN, D_OUT))
        judge.that(not answer.changed, "It changed one of its arguments in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Tokens and weight in float64 should give a result in float64."""
        x = draw.normal(NUM_TOKENS, D_IN, dtype=torch.float64)
        weight = draw.normal(D_IN, D_OUT, dtype=torch.float64)
        expected = reference.call("project", x, weight).value
        judge(student.call("project", x, weight).value, expected, axes=("token", "feature"))


@pytest.mark.exercise("query_scores")
class TestQueryScores(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_score_for_each_key(self, student, judge):
        """One query should have one float32 score for each key."""
        keys = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
        judge.shape(student.call("query_scores", torch.tensor([1.0, 1.0]), keys).value, (2,))

    def test_the_score_of_journey_with_its_own_key_as_printed(self, student, judge, printed):
        """The score of "journey" with its own key should be 1.8524."""
        own_key = printed("T43").tensor.unsqueeze(0)
        value = student.call("query_scores", printed("T11").tensor, own_key).value
        judge.shape(value, (1,))
        judge(value[0], printed("T12"), atol=ROUNDED_SCORES, what="the score with its own key")

    @pytest.mark.weight(2)
    def test_the_scores_of_journey_as_printed(self, student, judge, printed):
        """The scores of "journey" with all keys should be the example's."""
        value = student.call("query_scores", printed("T11").tensor, printed("T47").tensor).value
        judge(value, printed("T13"), atol=ROUNDED_SCORES, axes=("key",))

    def test_all_scores_as_printed(self, student, judge, printed):
        """The scores of all queries with all keys should be the example's, a row for each query."""
        value = student.call("query_scores", printed("T46").tensor, printed("T47").tensor).value
        judge(value, printed("T48"), atol=ROUNDED_SCORES, axes=("query", "key"))

    def test_the_scores_of_another_text_as_obtained(self, student, reference, judge, printed):
        """Normally distributed weights and another second token should give the right result."""
        w_query, w_key, _ = weights_004(reference)
        inputs = inputs_004(printed)
        value = student.call("query_scores", inputs[JOURNEY] @ w_query, inputs @ w_key).value
        judge(value, SCORES_004, atol=FOUR_DECIMALS, axes=("key",))
        judge(value[JOURNEY], OWN_SCORE_004, atol=FOUR_DECIMALS, what="the score with its own key")

    def test_as_many_keys_as_features(self, student, judge):
        """Keys should be rows, also where there are as many keys as features."""
        keys = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
        value = student.call("query_scores", torch.tensor([3.0, -1.0]), keys).value
        judge(value, torch.tensor([3.0, 5.0]), axes=("key",))

    def test_gradients_reach_query_and_keys(self, student, reference, judge, draw):
        """Gradients should flow to the query and to the keys."""
        query, keys = draw.normal(D_OUT), draw.normal(NUM_TOKENS, D_OUT)
        cotangent = draw.normal(NUM_TOKENS)
        mine = student.call("query_scores", query, keys, cotangent=cotangent).gradients
        right = reference.call("query_scores", query, keys, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the query")
        judge(mine.arguments["1"], right.arguments["1"], what="the gradient for the keys")

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """Query and keys should stay as they are."""
        answer = student.call("query_scores", draw.normal(D_OUT), draw.normal(NUM_TOKENS, D_OUT))
        judge.that(not answer.changed, "It changed one of its arguments in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Query and keys in float64 should give scores in float64."""
        query = draw.normal(D_OUT, dtype=torch.float64)
        keys = draw.normal(NUM_TOKENS, D_OUT, dtype=torch.float64)
        expected = reference.call("query_scores", query, keys).value
        judge(student.call("query_scores", query, keys).value, expected, axes=("key",))


@pytest.mark.exercise("scaled_weights")
class TestScaledWeights(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the scores."""
        judge.shape(student.call("scaled_weights", printed("T13").tensor, D_K).value, (6,))

    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, student, judge, printed):
        """The example's scores of "journey" should give the example's weights."""
        value = student.call("scaled_weights", printed("T13").tensor, D_K).value
        judge(value, printed("T14"), atol=ROUNDED_WEIGHTS, axes=("key",))

    @pytest.mark.weight(2)
    def test_all_weights_as_printed(self, student, judge, printed):
        """The example's scores of all queries should give the example's weights."""
        value = student.call("scaled_weights", printed("T48").tensor, D_K).value
        judge(value, printed("T49"), atol=ROUNDED_WEIGHTS, axes=("query", "key"))

    def test_each_row_of_weights_sums_to_one(self, student, judge, printed):
        """The weights of each query should sum to 1."""
        value = student.call("scaled_weights", printed("T48").tensor, D_K).value
        judge.shape(value, (6, 6))
        judge(value.sum(dim=-1), torch.ones(6), what="the sum of each row", axes=("query",))

    def test_the_weights_of_another_text_as_obtained(self, student, reference, judge, printed):
        """Normally distributed weights and another second token should give the right result."""
        w_query, w_key, _ = weights_004(reference)
        inputs = inputs_004(printed)
        scores = inputs @ w_key @ (inputs[JOURNEY] @ w_query)
        value = student.call("scaled_weights", scores, D_K).value
        judge(value, WEIGHTS_004, atol=FOUR_DECIMALS, axes=("key",))

    def test_larger_keys_are_scaled_more(self, student, judge):
        """With keys of size 16, scores should be divided by 4 before the softmax."""
        scores = torch.tensor([0.0, 4.0, -4.0, 8.0, -8.0])
        expected = torch.tensor([0.0861, 0.2341, 0.0317, 0.6364, 0.0117])
        value = student.call("scaled_weights", scores, 16).value
        judge(value, expected, atol=FOUR_DECIMALS, axes=("key",))

    def test_gradients_reach_the_scores(self, student, reference, judge, draw):
        """Gradients should flow to the scores."""
        scores, cotangent = draw.normal(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("scaled_weights", scores, D_OUT, cotangent=cotangent).gradients
        right = reference.call("scaled_weights", scores, D_OUT, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the scores")

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, student, judge, draw):
        """The scores should stay as they are."""
        answer = student.call("scaled_weights", draw.normal(NUM_TOKENS, NUM_TOKENS), D_OUT)
        judge.that(not answer.changed, "It changed its argument in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Scores in float64 should give weights in float64."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS, dtype=torch.float64)
        expected = reference.call("scaled_weights", scores, D_OUT).value
        value = student.call("scaled_weights", scores, D_OUT).value
        judge(value, expected, axes=("query", "key"))


@pytest.mark.exercise("weighted_values")
class TestWeightedValues(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_vector_like_a_value(self, student, judge, printed):
        """One query's weights should give one float32 vector of the size of a value."""
        value = student.call("weighted_values", printed("T14").tensor, values_of(printed)).value
        judge.shape(value, (2,))

    @pytest.mark.weight(2)
    def test_the_context_of_journey_as_printed(self, student, judge, printed):
        """The example's weights should give its context vector of "journey"."""
        value = student.call("weighted_values", printed("T14").tensor, values_of(printed)).value
        judge(value, printed("T15"), atol=ROUNDED_MIXTURE, axes=("feature",))

    @pytest.mark.weight(2)
    def test_all_context_vectors_as_printed(self, student, judge, printed):
        """The example's weights of all queries should give its context vectors."""
        value = student.call("weighted_values", printed("T49").tensor, values_of(printed)).value
        judge(value, printed("T16"), atol=ROUNDED_MIXTURE, axes=("query", "feature"))

    def test_the_context_of_another_text_as_obtained(self, student, reference, judge, printed):
        """Normally distributed weights and another second token should give the right query."""
        w_query, w_key, w_value = weights_004(reference)
        inputs = inputs_004(printed)
        scores = inputs @ w_key @ (inputs[JOURNEY] @ w_query)
        weights = torch.softmax(scores / D_K**0.5, dim=-1)
        value = student.call("weighted_values", weights, inputs @ w_value).value
        judge(value, CONTEXT_004, atol=FOUR_DECIMALS, axes=("feature",))

    def test_all_weight_on_one_value_gives_that_value(self, student, judge):
        """A query with all its weight on one token should get that token's value."""
        weights = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        values = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-4.0, 7.0]])
        expected = torch.tensor([[3.0, 5.0], [-4.0, 7.0], [3.0, 5.0]])
        # A matrix of one query, too, gives a matrix.
        for count in (3, 1):
            value = student.call("weighted_values", weights[:count], values).value
            judge(value, expected[:count], axes=("query", "feature"))

    def test_weights_of_any_sum_are_taken_as_they_are(self, student, reference, judge, draw):
        """Weights that do not sum to 1 should be taken as they are, too."""
        weights, values = (
            draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1),
            draw.normal(NUM_TOKENS, D_OUT),
        )
        expected = reference.call("weighted_values", weights, values).value
        value = student.call("weighted_values", weights, values).value
        judge(value, expected, axes=("query", "feature"))

    def test_gradients_reach_weights_and_values(self, student, reference, judge, draw):
        """Gradients should flow to the weights and to the values."""
        weights, values = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_OUT)
        cotangent = draw.normal(NUM_TOKENS, D_OUT)
        mine = student.call("weighted_values", weights, values, cotangent=cotangent).gradients
        right = reference.call("weighted_values", weights, values, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the weights")
        judge(mine.arguments["1"], right.arguments["1"], what="the gradient for the values")

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """Weights and values should stay as they are."""
        weights, values = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_OUT)
        answer = student.call("weighted_values", weights, values)
        judge.that(not answer.changed, "It changed one of its arguments in place")
