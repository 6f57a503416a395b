"""Net benefit: what acting on a risk gains, in true positives, when a false one costs the odds of the threshold."""

__all__ = ["net_benefit"]


def net_benefit(true_positives, false_positives, n, threshold):
    """TP / n - FP / n * t / (1 - t), numbers or arrays; thresholds in [0, 1).

    Shares stand in for counts with n = 1: sensitivity * prevalence and false positive rate * (1 - prevalence) for case-control data.
    Acting on all is (events, the others, n, t), on none 0.
    """
    return (true_positives - false_positives * (threshold / (1.0 - threshold))) / n
