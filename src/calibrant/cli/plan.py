"""``calibrant plan``: compute the sample size of a study."""

import json
from typing import Any

import click

from calibrant.cli.options import json_option
from calibrant.cli.wording import say
from calibrant.errors import InputError

__all__ = ["plan"]


@click.command("plan")
@click.option("--prevalence", type=float, help="The expected share of rows with the event.")
@click.option("--auroc", type=float, help="The expected AUROC (c-statistic).")
@click.option(
    "--normal",
    type=(float, float),
    metavar="MEAN STD",
    help="A normal distribution of the predicted log-odds.",
)
@click.option(
    "--beta", type=(float, float), metavar="A B", help="A beta distribution of the predicted risks."
)
@click.option("--threshold", type=float, help="A decision threshold: plan for its net benefit too.")
@click.option(
    "--update",
    type=click.Choice(["intercept", "intercept and slope"]),
    help="Plan this update instead of a validation.",
)
@click.option("--slope-width", type=float, help="Target width of the 95 % interval of the slope.")
@click.option(
    "--margin",
    type=float,
    help="The largest error that would not matter, such as 0.02: plan to show that true risks are"
    " typically within it.",
)
@json_option
def plan(threshold: Any, margin: Any, update: Any, as_json: Any, **given: Any) -> None:
    """Compute how many rows the validation, or the update, of a risk model needs for intervals of
    stated widths.

    \b
    Examples:
      calibrant plan --prevalence 0.1 --auroc 0.8
      calibrant plan --beta 2 8 --slope-width 0.3 --threshold 0.2
      calibrant plan --prevalence 0.1 --auroc 0.8 --margin 0.02
      calibrant plan --normal -2 1 --update "intercept and slope"
    """
    from calibrant.metrics import updating_size, validation_size

    asked = {name: value for name, value in given.items() if value is not None}
    validation = {
        name: value
        for name, value in {"threshold": threshold, "margin": margin}.items()
        if value is not None
    }
    if update is None:
        found = validation_size(**validation, **asked)
    elif not validation:
        found = updating_size(update=update, **asked)
    else:
        raise InputError(
            f"--{next(iter(validation))} plans a validation, but --update plans an update; leave"
            " one of them out."
        )
    say(json.dumps(found.to_dict(), indent=1) if as_json else str(found))
