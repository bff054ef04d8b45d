"""`python -m roughly`: the same as the command `roughly`."""

from roughly.cli import run

if __name__ == "__main__":
    run()
