"""The latent function of Gaussian-process calibration over its prior mean, with the scores it was fitted on."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.displays.style import COLOURS, draw_axes, draw_grid, show_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["LatentFunctionDisplay"]


class LatentFunctionDisplay:
    """What Gaussian-process calibration learned: above the prior mean a score counts for more than the model said, below it for less.

    Make one with :meth:`from_calibrator`; the constructor takes a latent function already computed and draws nothing.

    Parameters
    ----------
    latent : LatentFunction
        From ``GaussianProcessCalibration.latent``; increasing scores.
    scores : (m,) scores of the data, optional
        Drawn as ticks along the bottom: where there are none, the band is the prior's.
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    latent : LatentFunction
    ax_, figure_ : matplotlib axes and their figure, once drawn.

    See Also
    --------
    GaussianProcessCalibration : the calibrator it draws.

    Notes
    -----
    Softmax does not see a constant added to the latent function: judge its shape, not its height. With ``inputs="probability"`` the
    prior mean is log z, which falls steeply near 0.

    References
    ----------
    Wenger, Kjellstrom and Triebel, "Non-parametric calibration for classification", AISTATS 2020, figure 2.

    Examples
    --------
    >>> from calibrant import GaussianProcessCalibration
    >>> cal = GaussianProcessCalibration(n_inducing=3).fit([0.1, 0.2, 0.7, 0.9], [0, 1, 0, 1])
    >>> LatentFunctionDisplay(cal.latent([0.2, 0.5, 0.8])).latent.score.tolist()
    [0.2, 0.5, 0.8]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    prior_: Any
    line_: Any

    def __init__(self, latent: Any, *, scores: np.ndarray | None = None, name: str | None = None) -> None:
        self.latent: Any = latent
        self.scores: np.ndarray | None = scores
        self.name: str | None = name

    @classmethod
    def from_calibrator(
        cls, calibrator: Any, P: ArrayLike, *, n_points: int = 200, level: float = 0.95, name: str | None = None, ax: "Axes | None" = None
    ) -> "LatentFunctionDisplay":
        """Evaluate the latent function of a fitted calibrator over the range of P and draw it.

        Parameters
        ----------
        calibrator : fitted GaussianProcessCalibration
        P : (n, K), or (n,) for binary
            What it was fitted on, of the kind that its ``inputs`` names.
        n_points : int, default 200
        level : float, default 0.95
            Of the pointwise band.
        name : str, optional
            Title.
        ax : matplotlib axes, optional
            Default: those of a new figure.

        Returns
        -------
        LatentFunctionDisplay
        """
        scores = _components(np.asarray(P, dtype=np.float64), calibrator.inputs)
        points = np.linspace(scores.min(), scores.max(), n_points)
        return cls(calibrator.latent(points, level=level), scores=np.unique(scores), name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None) -> Self:
        """Draw the prior mean, the posterior mean, its band, and the scores; returns itself.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: those of a new figure.
        name : str, optional
            Title in place of the display's own.

        Returns
        -------
        LatentFunctionDisplay
        """
        ax = draw_axes(ax, "LatentFunctionDisplay")
        self.ax_, self.figure_ = ax, ax.figure
        latent = self.latent
        draw_grid(ax)
        (self.prior_,) = ax.plot(
            latent.score, latent.prior, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)), label="prior mean: as the model said"
        )
        self.band_: Any = ax.fill_between(
            latent.score, latent.low, latent.high, color=COLOURS["main"], alpha=0.2, linewidth=0, label="band"
        )
        (self.line_,) = ax.plot(latent.score, latent.mean, color=COLOURS["main"], linewidth=1.6, label="latent mean")
        self.ticks_: Any = None
        if self.scores is not None:
            ticks = np.asarray(self.scores, dtype=np.float64)
            (self.ticks_,) = ax.plot(
                ticks, np.zeros(len(ticks)), "|", color=COLOURS["other"], alpha=0.4, transform=ax.get_xaxis_transform(), label="scores"
            )
        ax.set(xlabel="Score", ylabel="Latent function")
        ax.legend(frameon=False, fontsize="small")
        show_title(ax, name or self.name)
        return self


def _components(P, inputs):
    """Every component of every row; of P (class 1), both classes."""
    if P.ndim == 2:
        return P.ravel()
    return np.concatenate([P, 1.0 - P if inputs == "probability" else np.zeros_like(P)])
