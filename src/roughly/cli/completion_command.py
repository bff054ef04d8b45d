"""`roughly completion`: the script for a shell."""

from __future__ import annotations

from roughly import checks
from roughly.console.completion import SHELLS, script
from roughly.declarations import argument
from roughly.fast_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class CompletionOptions:
    """Options of the command `completion`."""

    shell: str = argument(help=f"{', '.join(SHELLS)}.", metavar="SHELL", choices=lambda: SHELLS)


def completion(options: CompletionOptions) -> None:
    """Print the script that makes a shell complete commands, options, methods and columns."""
    checks.refuse(checks.one_of("the shell", options.shell, SHELLS))
    print(script(options.shell))
