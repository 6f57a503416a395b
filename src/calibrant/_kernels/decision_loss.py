"""What deciding by forecasts loses against deciding by what they turn out to mean, for the worst V-shaped payoff."""

import numpy as np

__all__ = ["decision_loss"]


def decision_loss(forecast, share, weight):
    r"""sup over kinks m of sum_v w_v |share_v - m| 1{m between forecast_v and share_v} / max(m, 1 - m), over distinct forecasts, (m,).

    Between neighbouring forecasts, shares and 1/2 the quotient is monotone in m, so it is largest at one of them.
    """
    low, high = np.minimum(forecast, share), np.maximum(forecast, share)
    pull = np.sign(share - forecast) * weight
    kink = np.unique(np.concatenate([forecast, share, [0.5]]))
    begun, ended = (_running(end, pull, share, kink, side) for end, side in ((low, "right"), (high, "left")))
    mass, hits = begun - ended
    return max(float(((hits - kink * mass) / np.maximum(kink, 1.0 - kink)).max() / weight.sum()), 0.0)


def _running(end, pull, share, kink, side):
    """Sums of (pull, pull * share) over those whose end is at most (``side="right"``), or below ("left"), each kink, (2, kinks)."""
    order = np.argsort(end)
    sums = np.zeros((2, len(end) + 1))
    np.cumsum([pull[order], (pull * share)[order]], axis=1, out=sums[:, 1:])
    return sums[:, np.searchsorted(end[order], kink, side=side)]
