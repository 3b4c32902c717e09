import pytest
import torch
from explicit_heads import MultiHeadAttention, head_output


@pytest.fixture
def model():
    return MultiHeadAttention(4, 2, 3)


def test_shape(model):
    assert model(torch.rand(5, 4)).shape == (5, 4)


def test_head():
    assert head_output(*torch.rand(3, 4, 2)).shape == (4, 2)
