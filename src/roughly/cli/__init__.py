"""The command line: one command a file.

Data goes to standard output, progress and messages to standard error. Exit codes: 0 done, 1 failed, 2 usage, 3 done but
records were rejected or a check failed, 130 stopped by the user.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; errors that are meant for people are printed in one line."""
    from roughly.cli.app import app
    from roughly.errors import RoughlyError, SettingsError

    try:
        app()
    except SettingsError as problem:
        for line in problem.problems:
            print(f"error: {line}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        sys.exit(130)
    except RoughlyError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
