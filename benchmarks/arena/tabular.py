"""Two-class data sets that installed packages ship: R's (Debian's r-cran-*), SurvSet, statsmodels.
A set is one line.

``apt-get install r-cran-aer r-cran-boot r-cran-cardata r-cran-caret r-cran-geepack r-cran-hsaur3
r-cran-lme4 r-cran-mlmrev r-cran-modeldata r-cran-pscl r-cran-vcd``,
with R's own recommended ones, and ``requirements/arena-data.txt``. R is asked once, and what it
gave is kept.
"""

import hashlib
import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np

CACHE = Path(__file__).parent / "cache" / "tabular"
#: More rows than this are drawn from, and more columns left out.
MOST_ROWS, MOST_COLUMNS, MOST_LEVELS = 6_000, 150, 12

#: name -> (package, object, what is the event, columns that tell it or name the row).
R_SETS = {
    "affairs": ("AER", "Affairs", "affairs > 0", ""),
    "bank-wages": ("AER", "BankWages", "minority == 'yes'", ""),
    "college": ("AER", "CollegeDistance", "education > 13", ""),
    "part-time": ("AER", "CPS1988", "parttime == 'yes'", ""),
    "degree": ("AER", "CPSSW9204", "degree == 'bachelor'", ""),
    "credit-card": ("AER", "CreditCard", "card == 'yes'", "share"),
    "doctor-visits": ("AER", "DoctorVisits", "visits > 0", ""),
    "more-kids": ("AER", "Fertility2", "morekids == 'yes'", ""),
    "gymnasium": ("AER", "GSOEP9402", "school == 'Gymnasium'", ""),
    "immigrant": ("AER", "GSS7402", "immigrant == 'yes'", ""),
    "guns": ("AER", "Guns", "law == 'yes'", "state year"),
    "insured": ("AER", "HealthInsurance", "insurance == 'yes'", ""),
    "mortgage": ("AER", "HMDA", "deny == 'yes'", ""),
    "house-air": ("AER", "HousePrices", "aircon == 'yes'", ""),
    "medicaid": ("AER", "Medicaid1986", "program == 'ssi'", ""),
    "private-insurance": ("AER", "NMES1988", "insurance == 'yes'", "medicaid"),
    "phd-articles": ("AER", "PhDPublications", "articles > 1", ""),
    "union": ("AER", "PSID7682", "union == 'yes'", "id year"),
    "resumes": ("AER", "ResumeNames", "call == 'yes'", "name"),
    "smoker": ("AER", "SmokeBan", "smoker == 'yes'", ""),
    "swiss-labour": ("AER", "SwissLabor", "participation == 'yes'", ""),
    "tenure": ("AER", "TeachingRatings", "tenure == 'yes'", "prof"),
    "travel-mode": ("AER", "TravelMode", "choice == 'yes'", "individual"),
    "arrests": ("carData", "Arrests", "released == 'Yes'", ""),
    "british-vote": ("carData", "BEPS", "vote == 'Labour'", ""),
    "blackmore": ("carData", "Blackmore", "group == 'patient'", "subject"),
    "abortion": ("carData", "CES11", "abortion == 'Yes'", "id weight population"),
    "chile": ("carData", "Chile", "vote == 'Y'", ""),
    "volunteer": ("carData", "Cowles", "volunteer == 'yes'", ""),
    "leave-to-appeal": ("carData", "Greene", "decision == 'yes'", ""),
    "headache": ("carData", "KosteckiDillon", "headache == 'yes'", "id"),
    "police-stops": (
        "carData",
        "MplsStops",
        "problem == 'suspicious'",
        "idNum date MDC citationIssued personSearch vehicleSearch",
    ),
    "mroz": ("carData", "Mroz", "lfp == 'yes'", "lwg"),
    "salaries": ("carData", "Salaries", "salary > 107300", ""),
    "titanic": ("carData", "TitanicSurvival", "survived == 'yes'", ""),
    "wells": ("carData", "Wells", "switch == 'yes'", ""),
    "world-values": ("carData", "WVS", "poverty == 'Too Little'", ""),
    "obese": ("geepack", "muscatine", "obese == 'yes'", "id numobese"),
    "wheeze": ("geepack", "ohio", "resp > 0", "id"),
    "respiratory": ("geepack", "respiratory", "outcome > 0", "id"),
    "toenail": ("HSAUR3", "toenail", "outcome == 'moderate or severe'", "patientID"),
    "verbal-aggression": ("lme4", "VerbAgg", "r2 == 'Y'", "id resp"),
    "good-lecture": ("lme4", "InstEval", "y > 3", "s d"),
    "contraception": ("mlmRev", "Contraception", "use == 'Y'", "woman district"),
    "immunised": ("mlmRev", "guImmun", "immun == 'Y'", "kid mom comm"),
    "prenatal": ("mlmRev", "guPrenat", "prenat == 'Modern'", "kid mom cluster"),
    "alzheimer": ("modeldata", "ad_data", "Class == 'Impaired'", ""),
    "attrition": ("modeldata", "attrition", "Attrition == 'Yes'", ""),
    "cells": ("modeldata", "cells", "`class` == 'PS'", "case"),
    "package-checks": ("modeldata", "check_times", "status > 0", "package check_time"),
    "credit": ("modeldata", "credit_data", "Status == 'bad'", ""),
    "lending-club": ("modeldata", "lending_club", "Class == 'bad'", ""),
    "telecom": ("modeldata", "mlc_churn", "churn == 'yes'", "state"),
    "customers": ("modeldata", "wa_churn", "churn == 'Yes'", ""),
    "parabolic": ("modeldata", "parabolic", "`class` == 'Class1'", ""),
    "remote-work": ("modeldata", "stackoverflow", "Remote == 'Remote'", ""),
    "two-class": ("modeldata", "two_class_dat", "Class == 'Class1'", ""),
    "vote92": ("pscl", "vote92", "vote == 'Clinton'", "dem rep clintondis bushdis perotdis"),
    "elections": ("pscl", "presidentialElections", "demVote > 45", "state"),
    "home-win": ("vcd", "Bundesliga", "HomeGoals > AwayGoals", "HomeGoals AwayGoals Date"),
    "baseball": ("vcd", "Baseball", "sal87 > 425", "name1 name2"),
    "dhfr": ("caret", "dhfr", "Y == 'active'", ""),
    "german-credit": ("caret", "GermanCredit", "Class == 'Bad'", ""),
    "diamonds": ("ggplot2", "diamonds", "price > 2401", ""),
    "metro": ("ggplot2", "midwest", "inmetro > 0", "PID county"),
    "storms": ("dplyr", "storms", "status == 'tropical depression'", "name category wind"),
    "tree-damage": ("multcomp", "trees513", "damage == 'yes'", ""),
    "biopsy": ("MASS", "biopsy", "`class` == 'malignant'", "ID"),
    "boston": ("MASS", "Boston", "medv > 21.2", ""),
    "dutch-schools": ("MASS", "nlschools", "lang > 42", ""),
    "otitis": ("MASS", "OME", "Correct == Trials", "ID Correct Trials"),
    "pima": ("MASS", "Pima.te", "type == 'Yes'", ""),
    "synthetic": ("MASS", "synth.te", "yc > 0", ""),
    "school-maths": ("nlme", "MathAchieve", "MathAch > 13.1", "School"),
    "solder": ("rpart", "solder", "skips > 2", ""),
    "transplant": ("survival", "transplant", "event == 'ltx'", "futime"),
}
#: SurvSet's sets without columns that change in time, 400 rows and more: was the event seen?
SURVSET = (
    "phpl04K8a",
    "prostate",
    "LeukSurv",
    "Dialysis",
    "zinc",
    "actg",
    "rhc",
    "rdata",
    "vlbw",
    "grace",
    "TRACE",
    "whas500",
    "dataDIVAT1",
    "prostateSurvival",
    "nwtco",
    "divorce",
    "dataDIVAT3",
    "uis",
    "colon",
    "follic",
    "Aids2",
    "cost",
    "smarto",
    "support2",
    "UnempDur",
    "acath",
    "scania",
    "GBSG2",
    "Unemployment",
    "rott2",
    "dataOvarian1",
    "flchain",
    "Framingham",
    "dataDIVAT2",
)
#: name -> (csv in statsmodels/datasets, its separator, the event, columns left out).
STATSMODELS = {
    "fair": ("fair/fair.csv", ",", "affairs > 0", ""),
    "anes96": ("anes96/anes96.csv", "\t", "vote > 0", ""),
    "randhie": ("randhie/randhie.csv", ",", "mdvis > 0", ""),
}


def names():
    """The sets that were kept, or whose package is there, in a fixed order."""
    with_package = set(R_SETS) if _has_r() else set()
    with_package |= (
        {_survset(name) for name in SURVSET} if importlib.util.find_spec("SurvSet") else set()
    )
    with_package |= set(STATSMODELS) if importlib.util.find_spec("statsmodels") else set()
    everything = [*R_SETS, *map(_survset, SURVSET), *STATSMODELS]
    return [
        name
        for name in everything
        if name in with_package or _from_r(name).exists() or _kept(name).exists()
    ]


def _survset(name):
    return f"survset-{name}"


def set_aside(name):
    """Whether a set belongs to the half that is judged once and never looked at before: a rule,
    its name's hash, not a choice.
    """
    return drawn(name, 0) % 2 == 1


def drawn(name, which):
    """A number in 0..255 that the name alone decides."""
    return hashlib.sha1(name.encode()).digest()[which]


def load(name):
    """(X, y): numbers, with words as indicators and what is missing as the median; y is 1 where
    the event is.
    """
    return kept(name, lambda: _read(name))


def kept(name, read):
    """(X, y) as ``read()`` gives it, read once, then kept."""
    path = _kept(name)
    if not path.exists():
        X, y = read()
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(path, X=X, y=y)
    with np.load(path) as z:
        return z["X"], z["y"]


def rows_of(name):
    """How many rows a set has here."""
    return len(load(name)[1])


def frame_of(name):
    """The table of a set of R or statsmodels, at most 6,000 of its rows."""
    import pandas as pd

    if name in R_SETS:
        return frame_from_r(name, {each: given[:2] for each, given in R_SETS.items()})
    path, separator, *_ = STATSMODELS[name]
    frame = pd.read_csv(
        folder("statsmodels") / "datasets" / path,
        sep=separator,
        quotechar="'" if separator == "\t" else '"',
    )
    return frame.sample(min(len(frame), MOST_ROWS), random_state=0)


def frame_from_r(name, sets, most=MOST_ROWS):
    """The table of one of ``sets``, name -> (package of R, object), ``most`` rows of it at most;
    all missing ones are asked for at once.
    """
    import pandas as pd

    _ask_r(sets)
    frame = pd.read_csv(_from_r(name))
    return frame.sample(min(len(frame), most), random_state=0)


def kept_already(name):
    """Whether a set was read before."""
    return _kept(name).exists()


def there(name):
    """Whether a set of R was kept, or R can be asked for it."""
    return _kept(name).exists() or _from_r(name).exists() or _has_r()


def _read(name):
    import pandas as pd

    if name in R_SETS or name in STATSMODELS:
        frame, (_, _, event, drop) = frame_of(name), (R_SETS | STATSMODELS)[name]
    else:
        event, drop = "event > 0", "pid time"
        frame = pd.read_pickle(
            folder("SurvSet") / "resources" / "pickles" / f"{name.removeprefix('survset-')}.pickle"
        )
        frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
    asked = [c for c in frame if c in event.replace("`", "").split()]
    frame = frame.dropna(subset=asked)
    y = frame.eval(event).to_numpy().astype(int)
    return numbers(frame.drop(columns=[*asked, *drop.split()], errors="ignore")), y


def numbers(frame):
    """Columns as numbers: few words as indicators, many left out, what is missing as the median."""
    import pandas as pd

    columns = []
    for name in frame.columns[:MOST_COLUMNS]:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            columns.append(column.fillna(column.median()).to_numpy(dtype=float)[:, None])
        elif column.nunique() <= MOST_LEVELS:
            columns.append(pd.get_dummies(column.astype(str)).to_numpy(dtype=float))
    X = np.nan_to_num(np.hstack(columns))
    return X[:, X.std(axis=0) > 0.0][:, :MOST_COLUMNS]


def folder(package):
    """Where an installed package lies."""
    return Path(importlib.util.find_spec(package).submodule_search_locations[0])


def _kept(name):
    return CACHE / f"{name}.npz"


def _from_r(name):
    return CACHE / f"{name}.csv"


def _has_r():
    return shutil.which("Rscript") is not None


def _ask_r(sets):
    """Write every set that is missing, in one R; what an R library lacks stays missing."""
    missing = [name for name in sets if not _from_r(name).exists()]
    if not missing or not _has_r():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    lines = [
        "one <- function(p, o, to) try({e <- new.env(); data(list=o, package=p, envir=e);",
        (
            "  x <- as.data.frame(get(o, envir=e)); for (i in names(x)) if (is.factor(x[[i]]))"
            " x[[i]] <- as.character(x[[i]]);"
        ),
        "  write.csv(x, to, row.names=FALSE)}, silent=TRUE)",
    ]
    lines += [f'one("{sets[n][0]}", "{sets[n][1]}", "{_from_r(n)}")' for n in missing]
    subprocess.run(
        ["Rscript", "-"], input="\n".join(lines), text=True, check=True, capture_output=True
    )
