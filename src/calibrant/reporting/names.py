"""What a calibrator is called where people read it."""

__all__ = ["shown_name"]


def shown_name(calibrator) -> str:
    """The name in tables and sentences: the label that its tags declare.

    Examples
    --------
    >>> from calibrant.confidence.confidence_calibrator import ConfidenceCalibrator
    >>> from calibrant.maps.histogram_binning import HistogramBinning
    >>> shown_name(ConfidenceCalibrator(map=HistogramBinning()))
    'confidence by histogram binning'
    """
    return calibrator.tags.label or type(calibrator).__name__
