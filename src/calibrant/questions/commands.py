"""What the command line offers for answers to questions: a command, and options of others."""

import click

__all__ = ["COMMANDS", "OPTIONS"]

#: Name -> (module, purpose, the heading of its list).
COMMANDS = {
    "rate": (
        "calibrant.questions.rate",
        "Estimate a rate from a judge's scores and few labels.",
        "Measure",
    )
}
#: Command -> its further options, of which a table of another kind takes none.
OPTIONS = {
    "decide": [
        click.Option(
            ["--unit"],
            type=click.Choice(["question", "log", "item"]),
            default="question",
            show_default=True,
            help=(
                "Logs of questions: the error is of each question, of their mixture, or of whole"
                " items."
            ),
        ),
        click.Option(
            ["--over"],
            type=click.Choice(["rows", "items"]),
            help=(
                "Logs of questions: the error is a share of rows (default), or of items, each with"
                " the mean of its rows."
            ),
        ),
    ]
}
