"""A penalised logistic regression whose weights are 0 or more: prior and weights that fit labelled pairs best.

    minimise over b, w ≥ 0:   Σ c·log(1 + exp(-y·(b + x·w))) + PENALTY/2·|w|²          y = 1 or -1, c what a pair counts

By Newton's method. Each step minimises the second-order model of the loss exactly over b and w ≥ 0: the model's best b
follows from w, which leaves a non-negative least-squares problem of one row per weight (Lawson and Hanson 1974, §23.3;
scipy). Far from the minimum a step may overshoot; then the curvature of a pair with margin m is that of the quadratic
upper bound, tanh(m/2)/(2·m) (Jaakkola and Jordan 2000), with which the loss always falls. The loss is convex, so there
is one minimum, and the start changes the cost only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
PENALTY = 0.3
_ROUNDS, _CLOSE, _LEAST_CURVE = 100, 1e-12, 1e-100


def fit_weights(features: Floats, same: npt.NDArray[np.bool_], counts: Floats, start: Floats | None = None) -> Floats:
    """(prior, weights) at the minimum. Both kinds of pairs must occur."""
    sign = np.where(same, 1.0, -1.0)
    found = np.r_[-3.0, np.full(features.shape[1], 0.5)] if start is None else start
    margin = sign * (features @ found[1:] + found[0])
    value = _loss(margin, counts, found)
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(np.clip(margin, -500, 500)))  # of the wrong answer
        push = -sign * counts * chance
        slopes = np.r_[push.sum(), features.T @ push + PENALTY * found[1:]]
        for curve in (np.maximum(chance * (1 - chance), _LEAST_CURVE), _bound(margin)):
            there = _model_minimum(features, slopes, counts * curve, found)
            gain = float(slopes @ (there - found))
            after = sign * (features @ there[1:] + there[0])
            reached = _loss(after, counts, there)
            if reached <= value + 1e-4 * gain:
                break
        if gain > -_CLOSE * value:
            return there if reached <= value else found
        found, margin, value = there, after, reached
    return found


def _loss(margin: Floats, counts: Floats, at: Floats) -> float:
    return float(counts @ np.logaddexp(0, -margin)) + PENALTY / 2 * float(at[1:] @ at[1:])


def _bound(margin: Floats) -> Floats:
    found: Floats = np.divide(np.tanh(margin / 2), 2 * margin, out=np.full(len(margin), 0.25), where=margin != 0)
    return found


def _model_minimum(features: Floats, slopes: Floats, curve: Floats, at: Floats) -> Floats:
    """Where the model of the loss at a point, with its `slopes` and the curvature of each pair, has its minimum.

    With z = (b, w) the model is z·H·z/2 - q·z. For given w, b = (q₀ - h·w)/H₀₀, h being the rest of the first row; what
    remains is |U·w - r|²/2 with UᵀU = H_ww - h·hᵀ/H₀₀ and Uᵀr = q_w - h·q₀/H₀₀.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    total, h = float(curve.sum()), features.T @ curve
    inner = features.T @ (features * curve[:, None]) + PENALTY * np.eye(features.shape[1])
    q0 = total * at[0] + h @ at[1:] - slopes[0]
    q = h * at[0] + inner @ at[1:] - slopes[1:]
    upper = np.linalg.cholesky(inner - np.outer(h, h) / total).T
    weights, _ = nnls(upper, solve_triangular(upper, q - h * q0 / total, trans="T"))
    found: Floats = np.r_[(q0 - h @ weights) / total, weights]
    return found
