"""The fit of learned verdicts: the minimum of its loss, beside scipy's general minimiser and the conditions for it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from roughly.tools.tune.logistic import PENALTY, Floats, fit_weights


def labelled(seed: int, pairs: int = 400) -> tuple[Floats, np.ndarray, Floats]:
    """Pairs of which some comparisons say something, some the opposite, and two are equal."""
    stream = np.random.default_rng(seed)
    features = stream.random((pairs, 8))
    features[:, 7] = features[:, 6]
    slopes = np.array([9.0, 3.0, 0.0, -5.0, 0.5, 0.0, 1.0, 0.0])
    same = features @ slopes - 4 + stream.logistic(size=pairs) > 0
    return features, same, stream.random(pairs) * 3


def loss(at: Floats, features: Floats, same: np.ndarray, counts: Floats) -> tuple[float, Floats]:
    sign = np.where(same, 1.0, -1.0)
    margin = sign * (features @ at[1:] + at[0])
    slope = -sign * counts / (1 + np.exp(margin))
    value = float(counts @ np.logaddexp(0, -margin) + PENALTY / 2 * at[1:] @ at[1:])
    return value, np.r_[slope.sum(), features.T @ slope + PENALTY * at[1:]]


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_is_that_of_scipy(seed: int) -> None:
    data = labelled(seed)
    found = fit_weights(*data)
    bounds = [(None, None), *[(0.0, None)] * 8]
    other = minimize(
        loss, np.zeros(9), data, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    value, slope = loss(found, *data)
    assert value == pytest.approx(other.fun, rel=1e-9) and value <= other.fun * (1 + 1e-13)
    assert (found[1:] >= 0).all() and found[4] == 0  # the comparison that says the opposite
    is_free = np.r_[True, found[1:] > 0]
    assert np.abs(slope[is_free]).max() < 1e-6 and (slope[~is_free] >= -1e-6).all()


def test_the_start_does_not_change_the_minimum() -> None:
    data = labelled(7)
    found = fit_weights(*data)
    for start in (np.r_[30.0, np.full(8, 20.0)], np.r_[-40.0, np.zeros(8)], found):
        assert fit_weights(*data, start) == pytest.approx(found, abs=1e-8)


def test_pairs_that_a_line_separates_have_finite_weights() -> None:
    features = np.r_[np.zeros((1000, 2)), np.ones((3, 2))]
    same = np.arange(1003) >= 1000
    found = fit_weights(features, same, np.full(1003, 1e4))
    assert np.isfinite(found).all() and found[1] == pytest.approx(found[2]) and found[1] > 5
    assert np.abs(loss(found, features, same, np.full(1003, 1e4))[1]).max() < 1e-3
