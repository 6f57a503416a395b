"""``calibrant audit``: test calibration in every group."""

import json
from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import (
    FAILED,
    FILE,
    Columns,
    all_option,
    cluster_option,
    column_options,
    force_option,
    gate_option,
    json_option,
    output_option,
    refuse_existing,
    refuse_unused,
    weight_kind_option,
)
from calibrant.cli.wording import say
from calibrant.core.text_table import p_text
from calibrant.errors import InputError

__all__ = ["audit"]


@click.command()
@click.argument("file", metavar="TABLE", type=FILE)
@click.option(
    "--groups",
    metavar="A,B",
    required=True,
    help="Columns of groups; each level and each combination of levels is tested.",
)
@click.option(
    "--target",
    metavar="TARGET",
    help="event, answer, classes, or a class's label (default: event of two classes, else answer).",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Largest number of columns in one combination.",
)
@click.option(
    "--null",
    type=click.Choice(["strong", "weak"]),
    help="Null hypothesis: every row's probability is true; or true on average in each group.",
)
@click.option(
    "--found",
    type=click.Choice(["tree", "boosting"]),
    help="Method that searches these columns for further groups.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0.0),
    default=0.05,
    show_default=True,
    help="Largest gap that does not matter.",
)
@gate_option('"group_gap>0.05" or "groups_off>0"')
@cluster_option
@weight_kind_option
@output_option(None, "Also write a page on every group, or .json or .md.", required=False)
@force_option
@all_option
@json_option
@column_options()
@click.pass_context
def audit(
    ctx: Any,
    file: Path,
    groups: str,
    target: Any,
    depth: int,
    null: Any,
    found: Any,
    tolerance: float,
    gates: Any,
    cluster: Any,
    weight_kind: Any,
    output: Path | None,
    force: bool,
    whole: bool,
    as_json: bool,
    columns: Columns,
) -> None:
    """Test whether the predictions in TABLE are calibrated in every group, corrected for the number
    of groups.

    The probability of falsely finding any group miscalibrated is at most 5 %. A gap is the mean
    prediction minus the observed rate. The gate group_gap compares the largest gap of the
    miscalibrated groups, shrunk by the part expected by chance. The first 12 groups are shown,
    worst first; the page of -o shows every level.

    \b
    Examples:
      calibrant audit loans.csv --risk p_default --label outcome --positive bad \\
          --groups sex,age
      calibrant audit loans.csv --label outcome --groups sex,age -o audit.html
      calibrant audit predictions.parquet --groups site --fail-if "group_gap>0.05"
      calibrant audit answers.csv --groups language,topic --target answer --json
      calibrant audit forecasts.csv --groups store
    """
    import calibrant
    from calibrant.cli.gate import failed
    from calibrant.reporting.report import require_page
    from calibrant.tables.readers import column_of, columns_of, read_file

    if output is not None:
        require_page(output)
        refuse_existing(output, force)
    data: Any = read_file(file, columns)
    if data.inputs == "score":
        raise InputError(
            "audit needs probabilities; --inputs is score; turn the scores into risks with"
            " `calibrant fit` first."
        )
    if any(gate.when == "after" for gate in gates):
        raise click.UsageError(
            "audit measures uncalibrated predictions; leave out the prefix after. in --fail-if."
        )
    if data.weight is None:
        refuse_unused("needs weights, by --weight", "weight_kind")
    options: dict[str, Any] = {
        "groups": columns_of(data, groups, "--groups"),
        "sample_weight": data.weight,
        "cluster": column_of(data, cluster),
        "weight_kind": weight_kind,
    }
    options |= {"depth": depth, "null": null, "found": found, "tolerance": tolerance}
    result = calibrant.audit(data.labels, **data.audited(target), **options)
    summary = result.to_dict()
    if output is not None:
        calibrant.report(result).save(output, overwrite=force)
    if as_json:
        click.echo(json.dumps({"file": str(file), **summary}, indent=1))
    else:
        _print(result, whole)
        if output is not None:
            say(str(output))
    told = {"metrics": [], "audit": {"before": summary, "after": None}}
    if failed(gates, told):
        ctx.exit(FAILED)


def _print(result: Any, whole: bool) -> None:
    from calibrant.cli.tables import print_table

    head = ["group", "rows", "predicted", "observed", "gap", "p", "result"]
    rows = [
        [
            one.name,
            f"{one.n:,.0f}",
            f"{one.said:.3g}",
            f"{one.came:.3g}",
            f"{one.gap:+.3f} [{one.low:+.3f},\xa0{one.high:+.3f}]",
            "–" if one.p_value is None else p_text(one.p_value),
            one.outcome,
        ]
        for one in result.groups
    ]
    say(result.sentence)
    print_table("", head, rows, whole)
