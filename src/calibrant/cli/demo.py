"""``calibrant demo``: the whole workflow on real data, from training to the report."""

from pathlib import Path

import click

from calibrant.cli.options import all_option, force_option, output_option, refuse_existing

__all__ = ["demo"]


@click.command()
@output_option("report.html", "Output file for the page.")
@all_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print the comparison as JSON instead of tables."
)
@force_option
def demo(output: Path, whole: bool, as_json: bool, force: bool) -> None:
    """Train real models on scikit-learn's digits and breast cancer data, calibrate each by every
    method, compare them and write a report.

    The models are trained on 40 % of the rows and the calibrators on another 30 %; all numbers are
    computed on the last 30 %. With --all it prints every method, and a table with intervals for
    each model and data set.

    \b
    Examples:
      calibrant demo
      calibrant demo --all -o demo.html --force
    """
    from calibrant.cli.demonstration import demonstrate

    refuse_existing(output, force)
    demonstrate(output, whole, as_json, force)
