"""The command line: one command a file.

Data goes to standard output, progress and messages to standard error. Exit codes: 0 done, 1 failed, 2 usage, 3 done but
records were rejected or a check failed, 130 stopped by the user.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import NoReturn


def run() -> NoReturn:
    """The program: `main`, and then out at once.

    Taking the interpreter apart object by object takes time in which nothing is done that the system does not do
    anyway.
    """
    from roughly.console.light import travel_light

    code: object = 0
    travel_light()
    try:
        main()
    except SystemExit as stop:
        code = stop.code
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 1
    atexit._run_exitfuncs()
    os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    """Run the command line; errors that are meant for people are printed in one line."""
    from roughly.errors import RoughlyError, SettingsError

    try:
        from roughly.cli.app import build

        build(sys.argv[1] if len(sys.argv) > 1 else None)()
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
