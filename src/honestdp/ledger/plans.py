"""Read a charge's plan, in every format that a ledger may hold.

Format 1 has no format number and stores the `repr` of procedures and events. Format 2 stores dicts
(`honestdp.planning.plan.Plan.public`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The classes whose names stand in plans of format 1, whatever they are called today.
_NAMES_IN_FORMAT_1 = {
    "Untuned": "untuned",
    "ComposeAll": "composition",
    "RandomStopping": "random-stopping",
    "RandomRepeats": "random-repeats",
    "Threshold": "threshold",
    "SubsetTuning": "subset-tuning",
}


def procedure_name(plan: Mapping[str, Any]) -> str:
    """The name of the procedure that a plan was charged for; "" if the plan has none.

    Example:
        >>> procedure_name({"procedure": "ComposeAll(candidates=4, scores=True)"})
        'composition'
        >>> procedure_name({"format": 2, "procedure": {"name": "untuned", "candidates": 1}})
        'untuned'
    """
    procedure = plan.get("procedure", "")
    if isinstance(procedure, Mapping):
        return str(procedure.get("name", ""))
    kind = str(procedure).partition("(")[0]
    return _NAMES_IN_FORMAT_1.get(kind, kind)
