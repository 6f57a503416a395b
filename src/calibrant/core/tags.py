"""Properties of methods, declared as data for tests, documentation tables and the command line."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["MapTags", "Promises", "SignalTags", "Tags"]


@dataclass(frozen=True)
class Tags:
    """Properties of a calibrator.

    Attributes
    ----------
    output : "probability" calibrates whole vectors, "confidence" the top label, "distribution" is
        regression.
    keeps_argmax : the predicted label never changes.
    random : depends on ``random_state``.
    uses_features, needs_reference : takes ``X=``; cannot fit without ``reference=``.
    may_use_features : takes optional ``X=`` and ``reference=``.
    uses_groups : requires ``groups=``; an automatic choice tries it only if they are passed.
    may_use_groups : takes optional ``groups=``.
    for_features_or_groups : needs neither, but is useful only with one of them: lists and automatic
        choices offer it only then.
    binary_only : accepts two classes only.
    soft_labels : its weighted fit takes soft labels.
    label : the name shown in tables.
    row_tolerance : how far the prediction of a row may depend on the other rows; 0 means bitwise
        independence.
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
        """Whether it accepts ``X=``, required or not."""
        return self.uses_features or self.may_use_features

    @property
    def takes_groups(self) -> bool:
        """Whether it accepts ``groups=``, required or not."""
        return self.uses_groups or self.may_use_groups

    def suits(self, given: Collection[str]) -> bool:
        """Whether it suits rows with these arguments, of "X", "reference" and "groups".

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
    """Properties of a map.

    Attributes
    ----------
    domain : "unit" takes scores in [0, 1] only, "real" takes any finite score.
    monotone : P(correct) never falls as the score rises.
    smooth : a curve of a few coefficients, for which near scores may be merged.
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
    """Properties of a signal.

    Attributes
    ----------
    domain : range of its scores, "unit" [0, 1] or "real".
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
    """Properties of a measure of calibration, each "yes", "no" or "partly".

    Attributes
    ----------
    truthful : in expectation no forecaster gains by reporting anything but the true probabilities.
    testable : it can be estimated from a sample, however many distinct probabilities there are.
    actionable : a small value bounds what decision makers lose by trusting the probabilities.
    regret : the bound, in a few words.

    See Also
    --------
    Tags, MapTags, SignalTags : the facts of calibrators, maps and signals.
    """

    truthful: Literal["yes", "no", "partly"]
    testable: Literal["yes", "no", "partly"]
    actionable: Literal["yes", "no", "partly"]
    regret: str
