"""Pages of one file that work without a network: what they may run and fetch, which is nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache


def policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """The content security policy: nothing outside the page may be fetched or run.

    Args:
        scripts: The texts of its scripts.
        styles: Those of its style sheets.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


@cache
def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
