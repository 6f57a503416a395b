"""More than two classes from the tabular sets of R: other columns of them as labels. A set is
one line; all are judged once.
"""

import numpy as np
from benchmarks.arena import tabular

#: name -> (set of ``tabular.R_SETS``, the column that is the label, columns that tell it or name
#: the row).
CLASS_SETS = {
    "job-role": ("attrition", "JobRole", ""),
    "party": ("british-vote", "vote", ""),
    "plebiscite": ("chile", "vote", ""),
    "chile-region": ("chile", "region", "population"),
    "years-of-school": ("college", "education", ""),
    "insured-region": ("insured", "region", ""),
    "insured-ethnicity": ("insured", "ethnicity", ""),
    "marital": ("credit", "Marital", ""),
    "contract": ("customers", "contract", ""),
    "payment": ("customers", "payment_method", ""),
    "diamond-cut": ("diamonds", "cut", ""),
    "diamond-colour": ("diamonds", "color", ""),
    "diamond-clarity": ("diamonds", "clarity", ""),
    "lecture-mark": ("good-lecture", "y", "s d"),
    "school-type": ("gymnasium", "school", ""),
    "medication": ("headache", "medication", "id"),
    "headache-type": ("headache", "hatype", "id"),
    "verification": ("lending-club", "verification_status", ""),
    "precinct": ("police-stops", "policePrecinct", "idNum neighborhood date MDC"),
    "stopped-race": ("police-stops", "race", "idNum date MDC preRace"),
    "health": ("private-insurance", "health", ""),
    "health-region": ("private-insurance", "region", ""),
    "country": ("remote-work", "Country", ""),
    "company-size": ("remote-work", "CompanySizeNumber", ""),
    "industry": ("resumes", "industry", "name"),
    "smoker-education": ("smoker", "education", ""),
    "storm": ("storms", "status", "name category"),
    "waiting-list": ("transplant", "event", "futime"),
    "president": ("vote92", "vote", ""),
    "poverty": ("world-values", "poverty", ""),
    "values-country": ("world-values", "country", ""),
    "cabin": ("titanic", "passengerClass", ""),
    "work-region": ("part-time", "region", ""),
    "husband-school": ("prenatal", "husEd", "kid mom cluster momEd"),
}
#: Classes with fewer rows are left out.
LEAST = 25


def names():
    """The sets whose data are there."""
    found = set(tabular.names())
    return [name for name, (base, _, _) in CLASS_SETS.items() if base in found]


def load(name):
    """(X, y) of a set, y in 0..K-1 in the order of the labels' names; read once, then kept."""
    return tabular.kept(f"classes-{name}", lambda: _read(name))


def rows_of(name):
    """How many rows a set has here."""
    return len(load(name)[1])


def _read(name):
    base, label, drop = CLASS_SETS[name]
    frame = tabular.frame_of(base).dropna(subset=[label])
    counts = frame[label].value_counts()
    frame = frame[frame[label].isin(counts.index[counts >= LEAST])]
    y = np.unique(frame[label].astype(str), return_inverse=True)[1]
    return tabular.numbers(frame.drop(columns=[label, *drop.split()], errors="ignore")), y
