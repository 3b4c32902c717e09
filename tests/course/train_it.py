"""Trains assignment 12's model as its notebook does, and writes what hidden checks load.

`python tests/course/train_it.py` writes `tests/checks/12_train_it/trained.json` again; the numbers
of one run differ between processors, in their last digits.
"""

import base64
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

ROOT = Path(__file__).parents[2]
TRAINED = ROOT / "tests/checks/12_train_it/trained.json"
NUM_STEPS = 500


def solution() -> SimpleNamespace:
    """What the solution of assignment 12 defines."""
    own = str(ROOT / "solutions/09_multi_head_attention")
    sys.path.insert(0, own)
    try:
        return SimpleNamespace(**runpy.run_path(str(ROOT / "solutions/12_train_it/train_it.py")))
    finally:
        sys.path.remove(own)
        sys.modules.pop("multi_head_attention", None)


def trained(own: SimpleNamespace, seed: int) -> tuple[Any, list[float]]:
    """A model trained from a seed, and the loss of each step."""
    torch.manual_seed(seed)
    model = own.LetterModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    return model, list(own.train(model, optimizer, NUM_STEPS, seed))


def stored(model: Any) -> str:
    """A model's parameters as text."""
    parameters = dict(model.named_parameters())
    numbers = torch.cat([p.detach().flatten() for p in parameters.values()]).half().numpy()
    shapes = {name: list(p.shape) for name, p in parameters.items()}
    text = base64.b64encode(numbers.tobytes()).decode()
    return json.dumps({"shapes": shapes, "float16": text}) + "\n"


if __name__ == "__main__":
    TRAINED.write_text(stored(trained(solution(), 1)[0]), "utf-8")
