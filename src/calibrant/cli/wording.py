"""Text for the terminal: no control codes, errors in one sentence, options instead of arguments."""

import re
import sys
from shutil import get_terminal_size
from typing import Any

import click

from calibrant.core.text_table import shown, wrapped

__all__ = ["on_lines", "said", "say"]

#: Largest number of characters of an error.
LONGEST = 1000

#: Patterns for arguments in the library's errors -> words of the command line.
OPTIONS = tuple(
    (re.compile(pattern), words)
    for pattern, words in {
        # This pattern comes before the one that makes std= an option.
        r"; the order of the arguments is [^;.]* in fit and [^;.]* in metrics": "",
        r'inputs="logit"': "--logits NAMES",
        r'inputs="probability"': "--probabilities NAMES",
        r"pass classes=\[\.\.\.\] with the label of the event last": (
            "name it with --positive LABEL, or measure the predicted label with --target answer"
        ),
        r"classes=\[\.\.\.\]": "--classes A,B,C",
        r"\[Errno -?\d+\] ": "",
        r"[^\s'\"]*calibrant-\w+[/\\]standard input\.\w+(\.gz)?": "standard input",
        r"\btarget=(\S+) takes": r"--target takes",
        r"\btarget=": "--target ",
        r"^target must": "--target must",
        r"\bclasses(=| must)": r"--classes\1",
        r"\bsample_weight\b": "--weight",
        r"overwrite=True": "--force",
        r"pass any_model=True": "pass --allow-other-version",
        r'pass model="v1"': "name it with --model-version",
        r'missing="skip"': "--skip-missing",
        r"filter out those rows first": "fill them in, or leave out such rows with --skip-missing",
        r"\bn_bins\b": "--bins",
        r"probabilities='p'": "--probabilities p",
        r"pass prevalence= and auroc=, or normal=, beta= or risks=": (
            "pass what you expect, such as --prevalence 0.1 --auroc 0.8, or --normal or --beta"
        ),
        r'quantiles="([^"]*)"': r"--quantiles \1",
        r"\bcheckpoint=": "--resume",
        r'(?<!--)\bengine="auto"': "--engine auto",
        r"(?<!--)\b(probabilities|score|predicted|mean|std|reference)=": r"--\1",
        r"^(every|engine|alpha|tolerance|mean|std|baseline|cluster) must": r"--\1 must",
        r"^path must": "--output must",
        r"^times and cluster exclude": "--time and --cluster exclude",
        r"^times\b": "--time",
        r"^time must": "--time must",
        r"^by and time must": "--by and --time must",
        r"^(groups|features)\b": r"--\1",
        r"^X\b": "the features (--features)",
        r"^reference\[0\]": "the features of --reference",
        r"(?<=--classes)=": "",
        r", P\[:, k\] with": ", each with",
        r"or swap the arguments if y and P are exchanged": (
            "or exchange the two if they are swapped"
        ),
        r"divide P by its row sums": "divide each row by its sum",
        r"pass P\[:, 0\] for binary predictions": (
            "name one column of probabilities of the second class"
        ),
        r"pass (np\.ravel\(y\)|y\.\w+\([^)]*\))": "keep one label per row",
        r"^P has\b": "the predictions have",
        r"^n_splits must be a whole number from 2 to the number of rows, (\d+); got (\d+)\.": (
            r"calibration out of fold in \2 parts needs \2 rows or more; there are \1; pass more"
            r" rows, or evaluate on those of --test."
        ),
        r"(^|; |rows of |columns of |and |row of )P\b(?! =)": r"\1the predictions",
        r"^(y|y_true)\b": "the labels (--label)",
    }.items()
)


def say(text: str, err: bool = False) -> None:
    """Print lines of text, as :func:`on_lines` returns them."""
    click.echo(on_lines(text, err), err=err)


def on_lines(text: str, err: bool = False) -> str:
    """Return lines of text with codes for control characters; on a terminal, sentences continue
    below at a blank, and tables and JSON are left as they are.
    """
    stream = sys.stderr if err else sys.stdout
    room = get_terminal_size().columns if stream.isatty() else None
    lines = map(shown, str(text).split("\n"))
    return "\n".join(part for line in lines for part in _broken(line, room))


def _broken(line: str, room: int | None) -> list[str]:
    data = line[:1] in ("", " ", "{", "[", "}", "]")
    return [line] if room is None or data or len(line) <= room else wrapped(line, room)


def said(error: Any) -> str:
    """Return an error or warning in one sentence, with options in place of arguments.

    Examples
    --------
    >>> said(ValueError("P must be probabilities; pass inputs=\\"logit\\" if these are logits."))
    'the predictions must be probabilities; pass --logits NAMES if these are logits.'
    """
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return shown(f"{error.filename}: {error.strerror.lower()}.")
    text = " ".join(str(error).split()) or type(error).__name__
    for pattern, words in OPTIONS:
        text = pattern.sub(words, text)
    # A user's value can be of any length, so the middle is cut: the remedy comes last.
    return shown(
        text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    )
