"""Any torch module: a convolutional net on handwritten digits, its width chosen honestly.

python examples/3_a_conv_net.py
"""

from pathlib import Path
from tempfile import mkdtemp

from sklearn.datasets import load_digits
from torch import nn

from honestdp import HonestSearch, Ledger, Schema
from honestdp.schema import Numeric, Target

X, y = load_digits(return_X_y=True)
folder = Path(mkdtemp(prefix="honestdp-"))
schema = Schema(
    name="digits",
    unit="one handwritten digit",
    columns=tuple(Numeric(name=f"pixel {i}", bounds=(0.0, 16.0)) for i in range(64)),
    target=Target(column="digit", classes=tuple("0123456789")),
)
ledger = Ledger.create(folder / "digits.ledger", schema=schema, epsilon=8.0, delta=1e-4)


def net(channels: int = 4) -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, channels, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * channels, 10),
    )


# The three lines: a module, what to choose among, a budget.
grid = {"rule": "dpadam", "learning_rate": 0.01, "module__channels": [4, 8]}
search = HonestSearch(
    net, grid, epsilon=8.0, delta=1e-4, procedure="composition", steps=300, lot_size=300,
    schema=schema, ledger=ledger, on_candidate=print,
)  # fmt: skip
search.fit(X, y)

print(search)
print("chosen:", search.best_params_, "noisy score:", round(search.best_score_, 3))
search.save(folder / "run")
again = HonestSearch.load(folder / "run", module=net)  # code is never in a file
assert (again.predict(X[:5]) == search.predict(X[:5])).all()
