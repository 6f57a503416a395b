"""Import the package first: pytest imports a file by itself for its doctests, which would make
second copies of its classes.
"""

import calibrant as calibrant
