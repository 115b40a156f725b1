"""Write the JSON schema of privacy cards, docs/card.schema.json, from the code.

python tools/card_schema.py
"""

import json
from pathlib import Path

from honestdp.release.card import json_schema

place = Path(__file__).parent.parent / "docs" / "card.schema.json"
place.write_text(json.dumps(json_schema(), indent=2) + "\n")
