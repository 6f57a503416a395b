"""One door for metrics of either task: probabilities for classification, forecasts for regression."""

from calibrant.errors import InputError

__all__ = ["read_for"]


def read_for(metrics, y_true, P, std, sample_weight, classes, inputs, check_values=True):
    """The one record that all these metrics read: of a classification, or of forecasts."""
    tasks = {metric.task for metric in metrics}
    if len(tasks) != 1:
        raise InputError(f"metrics must be of one task; got {sorted(tasks) or 'none'}; call once for each task.")
    if tasks == {"regression"}:
        if classes is not None or inputs != "probability":
            raise InputError("classes= and inputs= are of classification; leave them out for regression metrics.")
        # One that needs the std asks for it; without any such, means are enough.
        asker = next((metric for metric in metrics if metric.needs_std), metrics[0])
        return asker._read_forecast(y_true, P, std, sample_weight)
    if std is not None:
        raise InputError("std is of regression; leave it out for classification metrics.")
    return metrics[0]._read(y_true, P, sample_weight, classes, inputs, {}, check_values)[1]
