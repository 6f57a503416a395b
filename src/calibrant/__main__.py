"""``python -m calibrant``: the command line, if its script is not on the path."""

from calibrant.cli.main import main

if __name__ == "__main__":
    main()
