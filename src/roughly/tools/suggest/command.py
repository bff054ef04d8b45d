"""`roughly suggest INPUT`: settings for documents without labels, and pairs on either side of the threshold."""

from __future__ import annotations

from pathlib import Path

from roughly.amounts import share
from roughly.console.common_options import Printing
from roughly.console.terminal_output import end, print_json
from roughly.declarations import argument, group, option
from roughly.errors import OutputExists
from roughly.fast_dataclass import dataclass
from roughly.tools.suggest.request import SuggestRequest


@dataclass(frozen=True, kw_only=True)
class SuggestOptions:
    """Options of the command `suggest`."""

    inputs: list[str] = argument(help="Files, folders, globs or URLs of documents.")
    output: Path | None = option(None, "Settings file to write.", "-o", "--output")
    request: SuggestRequest = group(SuggestRequest)
    printing: Printing = group(Printing)


def suggest(options: SuggestOptions) -> None:
    """Look at a sample of documents without labels, and suggest settings."""
    if options.output is not None and options.output.exists() and not options.printing.overwrite:
        raise OutputExists(f"{options.output} exists; add --overwrite to replace it, or choose another name")
    from roughly.console.progress import Progress
    from roughly.job.settings_file import write_settings
    from roughly.report.visible import reveal
    from roughly.tools.suggest.api import suggest_settings

    with Progress(options.printing.quiet, options.printing.verbose) as progress:
        found = suggest_settings(None, options.inputs, options.request, progress)
    if options.output is not None:
        text = "roughly suggest, without labels\n" + "\n".join(found.reasons)
        write_settings(options.output, found.settings, text, options.printing.overwrite)
    if options.printing.as_json:
        print_json(found.to_dict() | {"written": None if options.output is None else str(options.output)})
    elif not options.printing.quiet:
        low, middle, high = found.words
        print(f"documents   {found.documents:,}; {found.sampled:,} looked at, {found.empty:,} without words")
        print(f"words       {middle:,} in the middle; half of the documents have {low:,} to {high:,}")
        for line in found.kind.lines():
            print(line)
        print(f"equal       {found.equal:,} have the words of another")
        print(f"partners    resemblance of each document's best partner, from 0 to 1: {_bars(found.histogram)}")
        for reason in found.reasons:
            print(f"            {reason}")
        named = " ".join(f"{name}={value}" for name, value in found.settings.items() if name != "method")
        print(f"suggested   {named}, which removes {share(found.removed)} of the sample")
        for title, pairs in (("just above the threshold", found.above), ("just below the threshold", found.below)):
            print(title if pairs else f"{title}: none")
            for one in pairs:
                print(f"  {one.resemblance:.3f}  {reveal(one.left_id)}: {reveal(one.left)}")
                print(f"         {reveal(one.right_id)}: {reveal(one.right)}")
        if options.output is not None:
            print(f"written     {options.output}")
    end(found.rejects)


def _bars(counts: list[int]) -> str:
    """A bar per count; heights by the logarithm, since most documents have no partner."""
    most = max(counts, default=0)
    if most == 0:
        return ""
    return "".join(
        " " if n == 0 else "▁▂▃▄▅▆▇█"[min(7, int(8 * n.bit_length() / (most.bit_length() + 1)))] for n in counts
    )
