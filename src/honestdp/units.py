"""The grid on which everything is counted that noise is added to.

UNITS is how many whole units one record may move a number by: the norm of a clipped sum, a score, a
count of a histogram. Noise is whole units too, so sums are exact and noise is added exactly.
"""

from __future__ import annotations

UNITS = 2**20
# Noise beyond this many times what one record can change leaves nothing of the data, and would be
# slow to draw exactly.
LARGEST_NOISE = 1e6
