"""`Predictor`: a trained candidate with the schema that encodes its rows; predicts from raw rows.

All of it may be released: the schema is public or paid for, the parameters are accounted for.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from honestdp.engine.answers import PLAIN, Answers
from honestdp.engine.examples import Examples, examples
from honestdp.engine.models import Model, named
from honestdp.engine.score import predict, probabilities
from honestdp.errors import InputError, PredictionWarning
from honestdp.planning.grid import Setting
from honestdp.release.unexpected import unexpected
from honestdp.schema import Schema, open_rows


@dataclass(frozen=True, eq=False)
class Predictor:
    """A trained candidate: its setting, its parameters, its noisy score (per validation row: the
    share predicted correctly, or the mean clipped loss; None if no score may be released), and how
    its outputs become answers."""

    setting: Setting
    noisy_score: float | None
    schema: Schema = field(repr=False)
    model: Model = field(repr=False)
    parameters: Tensor = field(repr=False)
    answers: Answers = PLAIN

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The parameters by name."""
        return named(self.model, self.parameters)

    def predict(self, table: Any, *, warn: bool = True) -> NDArray[Any]:
        """Predict the target of raw rows: one class or number per row, as in the table.

        With `warn`, cells that the schema does not expect are told as a `PredictionWarning`.
        """
        rows = self._rows(table, warn)
        found = predict(self.model, self.parameters.unsqueeze(0), rows, self.answers)
        return self.schema.decode_targets(found[0].numpy())

    def predict_proba(self, table: Any, *, warn: bool = True) -> NDArray[Any]:
        """Predict class probabilities of raw rows, [row, class]; `warn` as in `predict`."""
        rows = self._rows(table, warn)
        found = probabilities(self.model, self.parameters.unsqueeze(0), rows, self.answers)
        return found[0].numpy()

    def _rows(self, table: Any, warn: bool) -> Examples:
        sparse = None if self.model.reads_sparse else False
        table = open_rows(self.schema, table)
        inputs = self.schema.encode_inputs(table, sparse=sparse)
        if warn:
            lines = unexpected(self.schema, table)
            if lines:
                warnings.warn("; ".join(lines), PredictionWarning, stacklevel=4)
        if not inputs.shape[0]:
            raise InputError("table: holds no row; give rows to predict")
        kind = torch.long if self.model.loss.classes else torch.float32
        return examples(inputs, torch.zeros(inputs.shape[0], dtype=kind))
