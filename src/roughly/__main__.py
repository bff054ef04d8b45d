"""`python -m roughly`: the same as the command `roughly`."""

from roughly.cli import main

if __name__ == "__main__":
    main()
