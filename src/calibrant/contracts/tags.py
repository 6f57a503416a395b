"""Facts about a method, declared as data: tests, docs tables and the command line read them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["MapTags", "Promises", "SignalTags", "Tags"]


@dataclass(frozen=True)
class Tags:
    """What a calibrator is.

    Attributes
    ----------
    output : "probability" gives whole vectors by its own rule, "confidence" the top label's,
        "distribution" is regression.
    keeps_argmax : the predicted label never changes.
    random : depends on ``random_state``.
    uses_features, needs_reference : takes ``X=``; cannot fit without ``reference=``.
    may_use_features : takes ``X=`` and ``reference=`` where they are given, and does without.
    uses_groups : takes ``groups=`` and cannot do without; an automatic choice tries it only where
        they are given.
    may_use_groups : takes ``groups=`` where they are given, and does without.
    for_features_or_groups : does without both, but is for rows of which one is given: lists and
        automatic choices offer it only there.
    binary_only : accepts two classes only.
    soft_labels : its fit, a weighted one without tests, takes shares of raters for labels.
    label : the name shown in tables.
    row_tolerance : how far the answer to a row may move with the rows beside it; 0 means that all
        its bits stay.
    exceptions : contract checks that do not apply, each with the reason.

    See Also
    --------
    MapTags, SignalTags : the same for maps and signals.
    """

    output: Literal["probability", "confidence", "distribution"] = "probability"
    keeps_argmax: bool = False
    random: bool = False
    uses_features: bool = False
    needs_reference: bool = False
    may_use_features: bool = False
    uses_groups: bool = False
    may_use_groups: bool = False
    for_features_or_groups: bool = False
    binary_only: bool = False
    soft_labels: bool = False
    label: str = ""
    row_tolerance: float = 0.0
    exceptions: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def takes_features(self) -> bool:
        """Whether it knows ``X=``, needed or not."""
        return self.uses_features or self.may_use_features

    @property
    def takes_groups(self) -> bool:
        """Whether it knows ``groups=``, needed or not."""
        return self.uses_groups or self.may_use_groups

    def suits(self, given: Collection[str]) -> bool:
        """Whether it is for rows with which these come, of "X", "reference" and "groups".

        Examples
        --------
        >>> Tags(uses_groups=True).suits(["X"]), Tags(for_features_or_groups=True).suits(["X"])
        (False, True)
        """
        needs = {
            "X": self.uses_features,
            "reference": self.needs_reference,
            "groups": self.uses_groups,
        }
        either = not self.for_features_or_groups or "X" in given or "groups" in given
        return either and all(name in given for name, needed in needs.items() if needed)


@dataclass(frozen=True)
class MapTags:
    """What a map is.

    Attributes
    ----------
    domain : "unit" takes scores in [0, 1] only, "real" takes any finite score.
    monotone : P(correct) never falls as the score rises.
    smooth : a curve of a few coefficients, which near scores may be merged for.
    soft_labels : its fit takes shares of raters (:class:`SoftLabels`) for outcomes.
    random : depends on ``random_state``.
    label : the name shown in tables.
    exceptions : contract checks that do not apply, each with the reason.

    See Also
    --------
    Tags, SignalTags : the same for calibrators and signals.
    """

    domain: Literal["unit", "real"] = "real"
    monotone: bool = False
    smooth: bool = False
    soft_labels: bool = False
    random: bool = False
    label: str = ""
    exceptions: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class SignalTags:
    """What a signal is.

    Attributes
    ----------
    domain : where its scores lie, "unit" [0, 1] or "real".
    random : depends on ``random_state``.
    uses_features, needs_reference : takes ``X=``; cannot be fitted without ``reference=``.
    exceptions : contract checks that do not apply, each with the reason.

    See Also
    --------
    Tags, MapTags : the same for calibrators and maps.
    """

    domain: Literal["unit", "real"] = "unit"
    random: bool = False
    uses_features: bool = False
    needs_reference: bool = False
    exceptions: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Promises:
    """What a measure of calibration promises, each said as "yes", "no" or "partly".

    Attributes
    ----------
    truthful : in expectation nobody gains by reporting anything but the true probabilities.
    testable : it can be estimated from a sample, however many distinct probabilities there are.
    actionable : a small value bounds what decision makers lose by trusting the probabilities.
    regret : the bound, in a few words.
    derived : built and proved here without the paper at hand, which may differ.

    See Also
    --------
    Tags, MapTags, SignalTags : the facts of calibrators, maps and signals.
    """

    truthful: Literal["yes", "no", "partly"]
    testable: Literal["yes", "no", "partly"]
    actionable: Literal["yes", "no", "partly"]
    regret: str
    derived: bool = False
