"""The README's own code, and so its picture."""

from tools.readme_picture import predictions, readme_code

exec(compile(readme_code(), "README.md", "exec"), predictions())
