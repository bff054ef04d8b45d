"""`roughly perturb`: edited copies of documents, with labels."""

from __future__ import annotations

from pathlib import Path

from roughly.amounts import counted
from roughly.console.common_options import Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.tools.perturb.request import PerturbedFolder


@dataclass(frozen=True, kw_only=True)
class PerturbOptions:
    """Options of the command `perturb`."""

    inputs: list[str] = argument(help="Files, folders or globs of documents.")
    output: Path = option(REQUIRED, "Folder to write; must not contain a run.", "-o", "--output")
    wanted: PerturbedFolder = group(PerturbedFolder)
    printing: Printing = group(Printing)


def perturb(options: PerturbOptions) -> None:
    """Make edited copies of documents, each labelled with its source and their scores."""
    from roughly.tools.perturb.api import write_copies

    done = write_copies(options.inputs, options.wanted, options.output, options.printing.overwrite)
    if options.printing.as_json:
        print_json({"output": str(options.output)} | done.summary())
    elif not options.printing.quiet:
        print(f"{'kind':<12} {'copies':>8}  mean resemblance")
        for name, figures in done.kinds.items():
            print(f"{name:<12} {figures['copies']:>8,}  {figures['resemblance']:.3f}")
        documents = options.output / f"documents.{options.wanted.format}"
        copies = "1 copy" if done.copies == 1 else f"{done.copies:,} copies"
        print(f"documents   {documents}: {counted(done.originals, 'original')}, {copies}")
        print(f"labels      {options.output / 'pairs.csv'}")
