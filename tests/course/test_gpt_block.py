"""14: torch's own layers agree, a state of GPT-2's is read, what is built of a wrong part waits."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from kernels import printed, run_assignment
from torch import Tensor, nn

from grader.course.course import Course
from tests.course.conftest import Answer

HEADS, FEATURES, LAYERS = 3, 12, 2


@pytest.fixture
def own(defined_by: Callable[[str], SimpleNamespace]) -> SimpleNamespace:
    """What the solution defines."""
    return defined_by("14_gpt_block")


def torchs_layer(block: nn.Module) -> nn.TransformerEncoderLayer:
    """Torch's own pre-norm layer with the weights of a block."""
    layer = nn.TransformerEncoderLayer(
        *(FEATURES, HEADS, 4 * FEATURES, 0.0),
        activation=lambda x: nn.functional.gelu(x, approximate="tanh"),
        batch_first=True,
        norm_first=True,
    )
    qkv = (block.attn.W_query, block.attn.W_key, block.attn.W_value)
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(torch.cat([one.weight for one in qkv]))
        layer.self_attn.in_proj_bias.copy_(torch.cat([one.bias for one in qkv]))
    pairs = (
        (layer.self_attn.out_proj, block.attn.out_proj),
        (layer.norm1, block.ln_1),
        (layer.norm2, block.ln_2),
        (layer.linear1, block.mlp.c_fc),
        (layer.linear2, block.mlp.c_proj),
    )
    for theirs, ours in pairs:
        theirs.load_state_dict(ours.state_dict())
    return layer


def test_a_block_is_torchs_pre_norm_layer(own: SimpleNamespace) -> None:
    """`nn.TransformerEncoderLayer(norm_first=True)`, given the same weights, with a causal mask."""
    torch.manual_seed(1)
    block, x = own.TransformerBlock(FEATURES, 7, HEADS, qkv_bias=True), torch.randn(2, 7, FEATURES)
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.normal_(std=0.5)
    mask = nn.Transformer.generate_square_subsequent_mask(7)
    torch.testing.assert_close(
        block(x), torchs_layer(block)(x, src_mask=mask, is_causal=True), atol=1e-4, rtol=1e-4
    )


def as_gpt2_computes(state: dict[str, Tensor], tokens: Tensor) -> Tensor:
    """The scores by GPT-2's own format: `x @ weight + bias`, with one product for `c_attn`."""

    def norm(x: Tensor, name: str) -> Tensor:
        return nn.functional.layer_norm(
            x, (FEATURES,), state[f"{name}.weight"], state[f"{name}.bias"]
        )

    def layer(x: Tensor, name: str) -> Tensor:
        return x @ state[f"{name}.weight"] + state[f"{name}.bias"]

    x = state["wte.weight"][tokens] + state["wpe.weight"][: tokens.shape[1]]
    for block in range(LAYERS):
        qkv = layer(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn.c_attn").chunk(3, dim=-1)
        heads = [one.unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in qkv]
        found = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + layer(found.transpose(1, 2).flatten(2), f"h.{block}.attn.c_proj")
        hidden = layer(norm(x, f"h.{block}.ln_2"), f"h.{block}.mlp.c_fc")
        bent = nn.functional.gelu(hidden, approximate="tanh")
        x = x + layer(bent, f"h.{block}.mlp.c_proj")
    return norm(x, "ln_f") @ state["wte.weight"].T


def test_a_state_of_gpt2_gives_its_scores(own: SimpleNamespace) -> None:
    """Every name finds its place, and the model computes what GPT-2's format says."""
    torch.manual_seed(1)
    state = {name: value / 3 for name, value in own.drawn_state(11, FEATURES, LAYERS).items()}
    model = own.GPT(11, 8, FEATURES, HEADS, LAYERS, qkv_bias=True)
    found = model.load_state_dict(own.from_gpt2(state), strict=False)
    assert not found.unexpected_keys
    assert all(name.endswith(".mask") for name in found.missing_keys)
    tokens = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    torch.testing.assert_close(model(tokens), as_gpt2_computes(state, tokens), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("exercise", "find", "put", "said", "unsaid"),
    [
        ("GPT", "@ self.wte.weight.T", "@ self.wte.weight[1:].T", "GPT(11, 7, 12, 3, 2)", "Block("),
        (
            "from_gpt2",
            "tensor.chunk(3), strict=True",
            "tensor.chunk(3, -1)",
            "W_value.weight' is missing",
            "entries",
        ),
    ],
    ids=["not a part tried beside it", "the name that is missing"],
)
def test_a_message_shows_what_is_wrong(
    checked: Answer, exercise: str, find: str, put: str, said: str, unsaid: str
) -> None:
    """The call that failed, and the name."""
    told = "\n".join(check.message for check in checked(exercise, find, put).checks)
    assert said in told
    assert unsaid not in told


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("is_written", [False, True], ids=["as handed out", "all written"])
def test_the_notebook_runs_from_top_to_bottom(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """In a real kernel."""
    written = None if is_written else ()
    said = printed(*run_assignment(course, "14_gpt_block", tmp_path, monkeypatch, written).cells)
    assert ("124,412,160 without biases" in said) == is_written
    assert ("14_gpt_block/GPT is still to be written" in said) != is_written
