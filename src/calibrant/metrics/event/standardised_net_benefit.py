"""What acting on the risk gains at a threshold, as a share of the most there is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from calibrant.contracts.by_options import by_options
from calibrant.metrics.event.net_benefit import NetBenefit

__all__ = ["StandardisedNetBenefit", "standardised_net_benefit"]


@dataclass(frozen=True, repr=False)
class StandardisedNetBenefit(NetBenefit):
    r"""Net benefit divided by the share of events: 1 is acting on every event and on nothing else.

    .. math:: sNB(t) = NB(t) / \pi = TPR_t - \frac{1 - \pi}{\pi} \cdot \frac{t}{1 - t} FPR_t

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    threshold : float, default 0.5
        The risk from which one acts, at least 0 and below 1.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data.
    strategy : {"model", "all", "none"}
        Act on the model's risk, on every row, or on none.

    See Also
    --------
    net_benefit : in true positives a row.

    Notes
    -----
    Also "relative utility". It compares places with different rates of the event, where the net benefit itself grows with the rate;
    else it says what ``net_benefit`` says. nan where no event happened.

    References
    ----------
    Kerr, Brown, Zhu and Janes, "Assessing the clinical impact of risk prediction models with decision curves", JCO 2016.

    Examples
    --------
    >>> round(standardised_net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], threshold=0.25), 4)
    0.8333
    """

    name: ClassVar[str] = "standardised net benefit"
    key: ClassVar[str] = "standardised_net_benefit"
    _standardised: ClassVar[bool] = True

    def _exceptions(self) -> Mapping[str, str]:
        """Without events there is nothing to divide by."""
        names = ("one_class_only",) if self.target == "event" else ("exact_zero_and_one", "perfect_is_best")
        return dict.fromkeys(("one_row", *names), "nan without events, and without rows of either kind where a prevalence is given")

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)


standardised_net_benefit: StandardisedNetBenefit = StandardisedNetBenefit()
