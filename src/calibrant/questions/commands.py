"""A command for answers to questions, and the options and the help that others have for them."""

import click

__all__ = ["COMMANDS", "HELP", "OPTIONS"]

#: Name -> (module, purpose, the heading of its list).
COMMANDS = {
    "rate": (
        "calibrant.questions.rate",
        "Estimate a rate from a judge's scores and few labels.",
        "Measure",
    )
}
#: Command -> the end of its help.
HELP = {
    "fit": """From a log of answers to questions, -o NAME.json makes a lock file with a calibrator
fitted on half of the items, and thresholds certified on the others for --max-error and --certainty.

\b
  calibrant fit answers.jsonl -o model.calibrant  # a log of questions
  # Its thresholds, too: when to answer
  calibrant fit answers.jsonl -o lock.json --max-error 0.05
""",
    "apply": """A lock file of a log of questions adds `decision`: answer, ask or escalate.

\b
  # A log of questions
  calibrant apply model.calibrant answers.jsonl -o calibrated.jsonl
  # Answer, ask or escalate
  calibrant apply lock.json answers.jsonl -o decided.jsonl
""",
    "decide": """For a log of answers to questions, each question has a threshold, and the rule is a
lock file that is bound to the versions of the model in the log. With it as TABLE, each row of the
log NEW gets a decision in the field `decision`: answer, ask or escalate.

\b
  # A threshold for each question
  calibrant decide answers.jsonl --max-error 0.05 -o lock.json
  calibrant decide lock.json new.jsonl  # answer, ask or escalate
""",
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
