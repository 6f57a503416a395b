"""Kept shuffles as text: tables for the terminal, cells of the stored tables, and the claims that
do not hold.
"""

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.geometric import measure, published

ECE_RANGE = (0.2, 0.5)
#: Columns of the stored tables: heading, method.
ECE_COLUMNS = {
    "uncalibrated": "uncalibrated",
    "Iso, 1-v-r": "isotonic, one-vs-rest",
    "Platt, 1-v-r": "Platt, one-vs-rest",
    "SBC as published": "scaling-binning, as published",
    "SBC": "scaling-binning",
    "HB": "histogram binning",
    "BBQ": "BBQ",
    "beta": "beta",
    "TS": "temperature",
    "ETS": "ensemble temperature",
    "Iso, top label": "isotonic, top label",
    "separation, Iso": "fast l2, paper",
    "separation, sigmoid": "fast l2, sigmoid",
    "**combined**": "fast l2, combined",
}
_BOTH = (
    "uncalibrated",
    "Iso, 1-v-r",
    "Iso, top label",
    "TS",
    "ETS",
    "separation, Iso",
    "**combined**",
)
#: The method whose range over shuffles is stored.
RANGED = "fast l2, paper"
QUALITY_COLUMNS = {k: ECE_COLUMNS[k] for k in _BOTH} | {
    "hidden layer, combined": "hidden layer, combined"
}


def averages(records):
    """{method: {measure: (shuffles,) values}}."""
    return {
        m: {k: np.array([r["methods"][m][k] for r in records]) for k in measure.MEASURES}
        for m in records[0]["methods"]
    }


def in_paper(record, method):
    """The ECE that the paper prints for a method, or None."""
    row = record["data"], record["model"]
    alias = {"scaling-binning, as published": "scaling-binning", "scaling-binning": None}.get(
        method, method
    )
    if alias in published.TABLE_2.get(row, {}):
        return published.TABLE_2[row][alias]
    metric = method.removeprefix("fast ").removesuffix(", paper")
    return published.TABLE_1.get(row, {}).get(metric, (None,))[0]


def show(key, records):
    """One table of a data set and model."""
    accuracy, seconds = (
        np.mean([r["accuracy"] for r in records]),
        np.mean([r["model_seconds"] for r in records]),
    )
    spent = ", ".join(
        f"{part} {np.mean([r['seconds'][part] for r in records]):.0f}"
        for part in records[0]["seconds"]
    )
    print(
        f"\n{key}: {len(records)} shuffles, accuracy {accuracy:.4f}; CPU s a shuffle: model"
        f" {seconds:.0f}, {spent}"
    )
    print(
        f"{'':30}{'ECE %':>14}{'published':>12}{'NLL':>9}{'Brier %':>9}{'AURC e3':>9}{'Table 3':>9}"
    )
    values = averages(records)
    ours = values["fast l2, paper"]["ECE"].mean() if "fast l2, paper" in values else np.nan
    for method, of in values.items():
        spread = f" ±{of['ECE'].std(ddof=1):.2f}" if len(records) > 1 else ""
        said = in_paper(records[0], method)
        print(
            f"{method:30}{of['ECE'].mean():8.2f}{spread:>6}{'' if said is None else f'{said:.2f}':>12}{of['NLL'].mean():9.4f}"
            f"{of['Brier'].mean():9.3f}{of['AURC'].mean():9.3f}{100 * (1 - ours / of['ECE'].mean()):8.0f}%"
        )


def tables(found):
    """{stored table: {row: {column: cell}}}: ECE with the published value in brackets; log loss,
    Brier score and AURC. A row's name ends with its number of shuffles.
    """
    out = {"ece": {}, "quality": {}}
    for key, records in found.items():
        row, values = f"{key.split(' [')[0]}, {len(records)}", averages(records)
        for table, columns, cell in (
            ("ece", ECE_COLUMNS, _ece),
            ("quality", QUALITY_COLUMNS, _quality),
        ):
            out[table][row] = {
                column: cell(records[0], method, values[method]) if method in values else ""
                for column, method in columns.items()
            }
        if RANGED in values:
            out["ece"][row]["its range"] = stored.spread(values[RANGED]["ECE"])
    return out


def _ece(record, method, of):
    said = in_paper(record, method)
    return f"{of['ECE'].mean():.2f}" + ("" if said is None else f" ({said:.2f})")


def _quality(record, method, of):
    return f"{of['NLL'].mean():.4f} / {of['Brier'].mean():.2f} / {of['AURC'].mean():.2f}"


def faults(key, records):
    """Claims that do not hold on a row."""
    values, out = averages(records), []
    if "fast l2, paper" not in values:
        return out
    ece = values["fast l2, paper"]["ECE"].mean()
    if key.startswith("mnist rf [") and not ECE_RANGE[0] <= ece <= ECE_RANGE[1]:
        out.append(f"{key}: ECE of fast separation with isotonic is {ece:.3f} %")
    for k in ("NLL", "Brier", "AURC") if records[0]["model"] != "cnn" else ():
        a, b = values["fast l2, combined"][k].mean(), values["isotonic, top label"][k].mean()
        if a > b:
            out.append(f"{key}: {k} of combined is {a:.4f}, of isotonic on the score {b:.4f}")
    return out
