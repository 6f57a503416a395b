"""The README's picture."""

from tools.readme_picture import draw

draw()
