"""Packages of others that add calibrators, maps and signals: what they name under the entry point group "calibrant" is imported."""

import click

from calibrant.cli.wording import abridged, said, say

__all__ = ["GROUP", "import_extensions"]

GROUP = "calibrant"
DONE = "calibrant.extensions"


def import_extensions() -> None:
    """Import them, by name, once a run of the command; one that cannot be imported is left out, with one sentence on standard error.

    Only the command line does so: whoever installs a package beside calibrant wants it there, while ``calibrant.load`` runs nobody's code.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.meta.setdefault(DONE, False):
        return
    context.meta[DONE] = True
    # Imported here, as help and wrong usage do without it.
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP)):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.module
            say(
                f"Warning: the extension {abridged(point.value)} of the package {abridged(package)} is left out, as it cannot be imported "
                f"({type(error).__name__}: {said(error)}); upgrade or remove that package.",
                err=True,
            )
