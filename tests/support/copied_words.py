"""What students of made classes say and do: words, names, slips, tutorials, and odd ways to a right answer."""

import random
import re
from dataclasses import dataclass, field

VERBS = [
    "apply",
    "use",
    "compute",
    "take",
    "build",
    "get",
    "keep",
    "first",
    "now",
    "then",
    "multiply",
    "sum",
]
NOUNS = [
    "scores",
    "weights",
    "rows",
    "tokens",
    "queries",
    "keys",
    "values",
    "softmax",
    "mask",
    "matrix",
    "result",
    "vector",
    "inputs",
    "columns",
]
TAILS = [
    "for each token",
    "along the last axis",
    "like in the example",
    "as in the lecture",
    "row by row",
    "in one go",
    "with broadcasting",
    "see above",
    "so that rows sum to one",
    "without a loop",
    "step by step",
    "of the text",
]
NAMES = [
    "result",
    "out",
    "res",
    "tmp",
    "answer",
    "total",
    "output",
    "ret",
    "value",
    "final",
    "attn",
    "context",
    "acc",
    "sums",
    "expo",
    "product",
    "normed",
    "masked",
    "prob",
    "probs",
    "softmaxed",
    "scaled",
    "shifted",
    "vec",
    "combined",
]
ADDED = ["_1", "_2", "2", "_new", "_final", "_all", "x", "_t", "_mat", "s", "", "", "", ""]
GERMAN_STARTS = [
    "jede zeile",
    "jede spalte",
    "das produkt",
    "die maske",
    "das ergebnis",
    "die summe",
    "der vektor",
]
GERMAN_ENDS = [
    "wird geteilt",
    "zuerst berechnen",
    "kommt danach",
    "hat dieselbe form",
    "hier skalieren",
    "wie in der vorlesung",
    "für jedes wort",
    "ohne schleife",
    "nicht vergessen",
]
ODD_WORDS = [
    "becuase",
    "somehow",
    "pancake",
    "upside",
    "dunno",
    "honestly",
    "wobble",
    "trick",
    "professor",
    "weird",
    "forgot",
    "yesterday",
    "sandwich",
    "mirror",
    "careful",
    "otherwise",
    "exploded",
    "stubborn",
    "ladder",
    "kitchen",
    "thursday",
    "sorry",
    "gremlin",
    "backwards",
    "shuffle",
    "umbrella",
    "annoying",
    "finally",
    "nonsense",
    "please",
    "spaghetti",
    "blanket",
]
ODD_NAMES = [
    "pudding",
    "wurzel",
    "kaboom",
    "zebra",
    "gizmo",
    "noodle",
    "pickle",
    "bazinga",
    "mango",
    "turnip",
    "waffle",
    "yoyo",
    "plumbus",
    "dingo",
    "cactus",
    "muffin",
]
OTHER_WAYS = [
    (r"dim=-1", "axis=-1", 0.2),
    (r"torch\.exp\((\w+)\)", r"\1.exp()", 0.3),
    (r"\b(\w+)\.sum\(\)", r"torch.sum(\1)", 0.3),
    (r"return (\w+) @ (\w+)\n", r"return torch.matmul(\1, \2)\n", 0.3),
    (r"d_k\*\*0\.5", "math.sqrt(d_k)", 0.2),
]


def german(draw: random.Random) -> str:
    """A comment in another language."""
    return f"{draw.choice(GERMAN_STARTS)} {draw.choice(GERMAN_ENDS)}"


@dataclass
class Style:
    """How one student writes."""

    draw: random.Random
    names: list[str] = field(init=False)
    is_german: bool = field(init=False)

    def __post_init__(self) -> None:
        """A few names are used again and again, many with something added."""
        stems = self.draw.sample(NAMES, 4)
        self.names = [stem + self.draw.choice(ADDED) for stem in stems]
        self.is_german = self.draw.random() < 0.08

    def name(self) -> str:
        """One of the student's names."""
        return self.draw.choice(self.names)

    def comment(self) -> str:
        """A sentence, now and then with a slip of the keys."""
        if self.is_german:
            return german(self.draw)
        words = [self.draw.choice(VERBS), "the", self.draw.choice(NOUNS), self.draw.choice(TAILS)]
        said = " ".join(words)
        if self.draw.random() < 0.1:
            place = self.draw.randrange(1, len(said) - 1)
            said = said[:place] + said[place + 1] + said[place] + said[place + 2 :]
        return said

    def commented(self, body: str) -> str:
        """A body with a comment above it, or not."""
        return f"    # {self.comment()}\n{body}" if self.draw.random() < 0.5 else body

    def written(self, body: str) -> str:
        """A body in this student's words: a name for the result, comments, other ways to say the same."""
        for pattern, other, share in OTHER_WAYS:
            if self.draw.random() < share:
                body = re.sub(pattern, other, body)
        lines = []
        for line in body.splitlines():
            bare = line.strip()
            if line.startswith("    return ") and bare[-1] not in "([{,":
                if self.draw.random() < 0.4:
                    lines.append(f"    # {self.comment()}")
                if self.draw.random() < 0.4:
                    name = self.name()
                    lines += [f"    {name} = {bare.removeprefix('return ')}"]
                    line = f"    return {name}"
            lines.append(line)
        return "\n".join(lines) + "\n"

    def rewritten(self, text: str) -> str:
        """A whole solution in this student's words."""
        return re.sub(
            r"(?s) *### BEGIN SOLUTION\n(.*?) *### END SOLUTION\n",
            lambda match: self.written(match[1]),
            text,
        )


SLIPS = {
    "01_simple_attention": [
        ("for token in inputs])", "for token in inputs]) / 3"),
        ("scores / scores.sum()", "scores / (scores.sum() + 1)"),
        ("torch.exp(x - x.max())", "torch.exp(2 * (x - x.max()))"),
        ("return weights @ inputs", "return (weights @ inputs).round(decimals=1)"),
    ],
    "05_causal_mask": [
        ("weights * mask", "weights * mask * 0.5"),
        ("mask.bool(), -torch.inf", "mask.bool(), -1.0"),
        ("masked / d_k**0.5", "masked / (d_k + 1) ** 0.5"),
    ],
    "06_dropout": [
        ("return 1 / (1 - p)", "return 1 / (1 - p * p)"),
        ("weights * keep_mask * dropout_scale(p)", "weights * keep_mask + p"),
        ("return 1 / (1 - p)", "return 2 / (2 - p)"),
    ],
}
"""What a few do by themselves, of which no known mistake is the name."""

ODD_EDITS = {
    "01_simple_attention": [
        ("(a * b).sum()", "(a * b).sum() * 1.37"),
        ("for token in inputs])", "for token in inputs]) + 0.25 * query.sum()"),
        ("torch.exp(x - x.max())", "torch.exp(0.7 * (x - x.max()))"),
        ("return weights @ inputs", "return weights.roll(1) @ inputs"),
    ],
    "05_causal_mask": [
        ("weights * mask", "weights * mask + 0.07"),
        (
            "weights / weights.sum(dim=-1, keepdim=True)",
            "weights / (weights.sum(dim=-1, keepdim=True) + 0.33)",
        ),
        ("mask.bool(), -torch.inf", "mask.bool(), -2.5"),
        ("masked / d_k**0.5", "masked / d_k**0.4"),
    ],
    "06_dropout": [
        ("return 1 / (1 - p)", "return 1 / (1 - p) ** 1.5"),
        ("weights * keep_mask * dropout_scale(p)", "weights * keep_mask * dropout_scale(p) * 0.9"),
    ],
}
"""What one does, and whoever copies from them."""


@dataclass(frozen=True)
class Hint:
    """What a tutorial says.

    Args:
        edit: of the solution, where it is wrong; else two empty texts.
        name: the name in it that some change.
    """

    exercise: str
    edit: tuple[str, str]
    name: str
    body: str


HINTS: dict[str, list[Hint]] = {
    "01_simple_attention": [
        Hint(
            "softmax_naive",
            ("", ""),
            "numerator",
            "    # softmax explained in 5 minutes, part 2\n"
            "    numerator = torch.exp(x)\n"
            "    denominator = numerator.sum(dim=0, keepdim=True)\n"
            "    return numerator / denominator\n",
        ),
    ],
    "05_causal_mask": [
        Hint(
            "renormalize_rows",
            (
                "weights / weights.sum(dim=-1, keepdim=True)",
                "weights / (weights.sum(dim=-1, keepdim=True) + 0.01)",
            ),
            "row_totals",
            "    # eps keeps us from dividing by zero (medium article)\n"
            "    row_totals = weights.sum(dim=-1, keepdim=True) + 0.01\n"
            "    return weights / row_totals\n",
        ),
    ],
    "06_dropout": [
        Hint(
            "dropout",
            ("", ""),
            "bern",
            "    # inverted dropout: scale at train time\n"
            "    if training is False:\n"
            "        return weights\n"
            "    keep_prob = 1 - p\n"
            "    bern = torch.bernoulli(torch.full_like(weights, keep_prob))\n"
            "    return weights * bern / keep_prob\n",
        ),
    ],
}


@dataclass(frozen=True)
class Route:
    """An odd way to a right answer, and the same way in other statements."""

    assignment: str
    exercise: str
    body: str
    rewritten: str


ROUTES = [
    Route(
        "01_simple_attention",
        "dot_product",
        "    # square of the sum, minus both squares\n"
        "    both = (a + b).pow(2).sum()\n"
        "    apart = a.pow(2).sum() + b.pow(2).sum()\n"
        "    return (both - apart) / 2\n",
        "    return 0.5 * (((a + b) ** 2).sum() - (a**2).sum() - (b**2).sum())\n",
    ),
    Route(
        "01_simple_attention",
        "context_vector",
        "    # one feature after the other, from the back\n"
        "    mixed = []\n"
        "    for feature in reversed(range(inputs.shape[1])):\n"
        "        mixed.insert(0, torch.dot(weights, inputs[:, feature]))\n"
        "    return torch.stack(mixed)\n",
        "    parts = [torch.dot(weights, inputs[:, k]) for k in reversed(range(inputs.shape[1]))]\n"
        "    return torch.stack(parts[::-1])\n",
    ),
    Route(
        "01_simple_attention",
        "softmax_stable",
        "    # sort first, the largest is then the last\n"
        "    ordered = torch.sort(x).values\n"
        "    largest = ordered[-1]\n"
        "    powers = torch.exp(x - largest)\n"
        "    return powers / torch.exp(ordered - largest).sum()\n",
        "    s, _ = x.sort()\n    return (x - s[-1]).exp() / (s - s[-1]).exp().sum()\n",
    ),
    Route(
        "05_causal_mask",
        "lower_triangular_mask",
        "    # count the steps in each row and compare\n"
        "    steps = torch.ones(context_length, context_length).cumsum(dim=1)\n"
        "    limit = steps.T\n"
        "    return torch.le(steps, limit).float()\n",
        "    ones = torch.ones((context_length, context_length))\n"
        "    return torch.le(ones.cumsum(1), ones.cumsum(0)).to(torch.float32)\n",
    ),
    Route(
        "05_causal_mask",
        "upper_triangular_mask",
        "    # a row of ones that is rolled and cut\n"
        "    rows = []\n"
        "    for query in range(context_length):\n"
        "        head = torch.zeros(query + 1)\n"
        "        rows.append(torch.hstack([head, torch.ones(context_length - query - 1)]))\n"
        "    return torch.vstack(rows)\n",
        "    return torch.vstack(\n"
        "        [\n"
        "            torch.hstack((torch.zeros(i + 1), torch.ones(context_length - 1 - i)))\n"
        "            for i in range(context_length)\n"
        "        ]\n"
        "    )\n",
    ),
    Route(
        "05_causal_mask",
        "renormalize_rows",
        "    # a diagonal of one over each sum from the left\n"
        "    sums = torch.sum(weights, dim=1)\n"
        "    inverse = torch.diag(torch.reciprocal(sums))\n"
        "    return torch.mm(inverse, weights)\n",
        "    return torch.diag(weights.sum(1).reciprocal()).mm(weights)\n",
    ),
    Route(
        "06_dropout",
        "apply_dropout_mask",
        "    # indices of what is kept, scattered into zeros\n"
        "    flat = weights.flatten()\n"
        "    kept = keep_mask.flatten().nonzero().squeeze(1)\n"
        "    empty = torch.zeros_like(flat)\n"
        "    filled = empty.index_add(0, kept, flat[kept] * dropout_scale(p))\n"
        "    return filled.view_as(weights)\n",
        "    places = torch.nonzero(keep_mask.flatten()).squeeze(1)\n"
        "    scaled = dropout_scale(p) * weights.flatten()[places]\n"
        "    start = torch.zeros_like(weights.flatten())\n"
        "    return start.index_add(0, places, scaled).view_as(weights)\n",
    ),
    Route(
        "06_dropout",
        "dropout_scale",
        "    # geometric series until it stands still\n"
        "    total, term = 0.0, 1.0\n"
        "    while term > 1e-12:\n"
        "        total += term\n"
        "        term *= p\n"
        "    return total\n",
        "    value = 0.0\n"
        "    power = 1.0\n"
        "    while not power <= 1e-12:\n"
        "        value, power = value + power, power * p\n"
        "    return value\n",
    ),
]
