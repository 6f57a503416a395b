"""``calibrant evaluate``: how good, how honest."""

import json
from typing import Any

import click

import calibrant
from calibrant.cli.choosing import chosen, fold_progress, method_options, of_scores, reported, saved
from calibrant.cli.evaluate_tables import Tables, evaluate_tables, table_options
from calibrant.cli.event import viewed
from calibrant.cli.large_report import large_report, read_any
from calibrant.cli.options import FILE, bins_option, cluster_option, column_options
from calibrant.cli.reading import column_of
from calibrant.cli.tables import print_summary
from calibrant.cli.wording import shown

__all__ = ["evaluate"]


def _refused_gates(ctx, param, value):
    if value:
        raise click.UsageError(f"gates belong to `calibrant report`: calibrant report FILE --fail-if '{value[0]}'")


@click.command()
@click.argument("source", metavar="FILE")
@method_options
@column_options()
@table_options
@bins_option
@cluster_option
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON instead of a table.")
@click.option("--fail-if", hidden=True, multiple=True, expose_value=False, callback=_refused_gates)
def evaluate(
    source: Any, method: str, target: Any, calibrator: Any, columns: Any, bins: Any, cluster: Any, as_json: bool, **options: Any
) -> None:
    """How good and how honest the predictions in FILE are, each number with an interval.

    Of two classes the numbers are of the risk of the event: log loss, Brier score, D², O/E, calibration in the large and slope, ECE,
    ICI, AUROC. --target answer asks how likely the model's own answer is right, as more classes do by default: accuracy, log
    loss, Brier score, ECE; --target LABEL takes one class for the event. Of forecasts: NLL, CRPS, ENCE, coverage.

    With --calibrator or --method: before and after calibration, and the change (paired).
    A pattern of Parquet files, a folder, or any option marked "Tables" counts out of core, by slice, in bounded memory; CSV files
    are counted by slice too, whole in memory. A table of more than a million rows is read in parts by itself.

    \b
    Examples:
      calibrant evaluate predictions.npz
      calibrant evaluate risks.csv --risk p_default --label outcome --positive bad
      calibrant evaluate log.jsonl --risk margin --inputs score --label correct
      calibrant evaluate predictions.csv --label outcome --json
      calibrant evaluate predictions.parquet --method isotonic     5-fold out-of-fold
      calibrant evaluate test.npz --calibrator model.calibrant
      calibrant evaluate forecasts.csv                             columns mean, std, y
      calibrant evaluate forecasts.csv --by store
      calibrant evaluate visits.csv --label outcome --cluster patient
      calibrant evaluate "logs/*.parquet" --by model,day --resume sums.calibrant -o slices.parquet
    """
    tables = Tables(**options)
    if tables.asked(source):
        if method is not None or calibrator is not None:
            raise click.UsageError("--method and --calibrator go with one file that is read whole; leave them out for tables.")
        if cluster is not None:
            raise click.UsageError(f"--cluster counts rows in memory, not tables out of core: calibrant report FILE --cluster {cluster}")
        evaluate_tables(source, tables, columns, bins, as_json, target)
        return
    _evaluate_file(FILE.convert(source, None, click.get_current_context()), method, target, calibrator, columns, bins, cluster, as_json)


def _evaluate_file(file, method, target, calibrator, columns, bins, cluster, as_json):
    loaded, found = saved(calibrator, method), None
    if cluster is None:
        asked = {"default": calibrant.Identity, "target": target, "n_bins": bins, "title": shown(file.name)}
        found = large_report(file, columns, method, loaded, **asked)
    if found is None:
        data = read_any(file, columns, cluster=cluster, prefer=getattr(loaded, "inputs", None))
        fitted, data = of_scores(data, method, loaded) or (chosen(method, loaded, data, default=calibrant.Identity, target=target), data)
        options = {
            "target": viewed(data, target, fitted), "n_bins": bins, "title": shown(data.path.name), "cluster": column_of(data, cluster)
        }  # fmt: skip
        with fold_progress(fitted) as step:
            found = reported(data, fitted, progress=step, **options)
    summary = found.to_dict()
    if as_json:
        click.echo(json.dumps({"file": str(file), **summary}, indent=1))
    else:
        print_summary(summary)
