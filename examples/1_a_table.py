"""A table, a schema, a budget: a private model and its card.

    python examples/1_a_table.py

The census table that ships with honestdp stands for yours. Its training rows are protected; its
test rows are declared public, to look at the result.
"""

from pathlib import Path
from tempfile import mkdtemp

from honestdp import HonestSearch, Ledger, load, verify
from honestdp.datasets import adult

folder = Path(mkdtemp(prefix="honestdp-"))
schema, train, test = adult()
train, test = train.to_pandas(), test.to_pandas()

# What is public, and nothing else: columns, bounds, categories, classes. `schema.save(...)` writes
# the TOML file that you would fill in for a table of your own.
print(f"{schema.name}: {len(schema.columns)} columns, one row is {schema.unit}")

# The budget of this data set, kept in a file. It is charged before a row is read, never refunded.
ledger = Ledger.create(folder / "adult.ledger", schema=schema, epsilon=1.0, delta=1e-6)

search = HonestSearch("logistic", epsilon=1.0, delta=1e-6, schema=schema, ledger=ledger)
print(search.plan(len(train)))
search.fit(train)  # the target is a column of the table

print(search)
accuracy = search.score(test, test["income"], public=True)
print(f"accuracy on the census' test rows: {accuracy:.3f}")
print("left of the budget:", ledger.remaining())

search.save(folder / "run")
again = load(folder / "run")  # in another process, by someone else: no code, no pickle
assert (again.predict(test) == search.predict(test)).all()
verify(again.card, ledger)  # the ledger stands behind the card, to the letter
print(again.card.prose())
