"""The command line: one command per file.

Data goes to standard output, progress and messages to standard error. Exit codes: 0 done, 1 failed, 2 usage, 3 done but
records were rejected or a check failed, 130 stopped by the user.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import NoReturn


def run() -> NoReturn:
    """The program: `main`, then an immediate exit.

    Tearing down the interpreter object by object takes time, and the system frees the memory anyway.
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
    """Run the command line; errors are printed in one line."""
    import click

    from roughly.cli.app import app
    from roughly.console.unexpected import report, take_flag
    from roughly.errors import SettingsError

    take_flag(sys.argv)
    try:
        sys.exit(app(prog_name="roughly", standalone_mode=False))
    except click.ClickException as problem:
        if isinstance(problem, click.NoSuchOption) and problem.possibilities:
            import difflib

            nearest = difflib.get_close_matches(problem.option_name, problem.possibilities, 1, 0)
            problem = click.NoSuchOption(problem.option_name, possibilities=nearest, ctx=problem.ctx)
        problem.show()
        sys.exit(problem.exit_code)
    except SettingsError as problem:
        for line in problem.problems:
            print(f"error: {line}", file=sys.stderr)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        print("\nstopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as problem:
        report(problem)
        sys.exit(1)
