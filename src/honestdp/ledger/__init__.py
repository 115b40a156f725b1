"""The durable privacy budget of one data set: what was spent stays spent.

    chain    the record itself: entries, receipts, hashes; no files
    store    one SQLite file: locks, durability, plain errors
    budget   `Ledger`: reserve before the data is opened, release once, verify

Public numbers only. An entry holds a plan and what it costs; never K, a score, a noise seed, a
hash of the data, or a time (the time from a charge to its release would reveal K).

It cannot detect that two ledgers are about the same people (their totals then add up), or that a
copy of the whole file is spent twice. The head on a released card reveals the latter.
"""

from honestdp.ledger.budget import NEIGHBOURS, Ledger, Remaining
from honestdp.ledger.chain import Charge, Receipt, fingerprint

__all__ = ["NEIGHBOURS", "Charge", "Ledger", "Receipt", "Remaining", "fingerprint"]
