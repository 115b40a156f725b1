"""The integer grid of every number that noise is added to.

UNITS is the most whole units by which one record may change such a number: the norm of a clipped
sum, a score, a count of a histogram. Noise is whole units too, so sums and noise are exact.
"""

from __future__ import annotations

UNITS = 2**20
# The largest noise, relative to what one record can change. More would leave nothing of the data,
# and would be slow to draw exactly.
LARGEST_NOISE = 1e6
# The least and the largest weight of a class: its gradients stay far from the ends of float32.
WEIGHTS = (1e-8, 1e4)
