from simple_attention import dot_product


def test_it():
    assert dot_product(2, 3) == 6
