"""`roughly passages`: lines, sentences, paragraphs or runs of tokens that occur more than once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.amounts import counted, share
from roughly.console.common_options import COLUMNS, INPUTS, Printing
from roughly.console.terminal_output import end, print_json, size
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.tools.passages.request import PassagesRun

if TYPE_CHECKING:
    from roughly.tools.passages.passages_result import PassagesResult

_SHOWN = 10
EXAMPLES = (
    "roughly passages crawl/ -o report --site-share 0.2",
    "roughly passages list.mbox -o cleaned --least 20 --keep oldest --do remove",
    "roughly passages train.jsonl --against test.jsonl --preset ngram-13 -o leaks",
)


@dataclass(frozen=True, kw_only=True)
class PassagesOptions:
    """Options of the command `passages`."""

    inputs: list[str] = argument(help=INPUTS)
    output: Path = option(REQUIRED, "Folder to write.", "-o", "--output")
    against: list[Path] | None = option(
        None, "Test set: count only passages that occur in it; exit code 3 if there are any."
    )
    resume: bool = option(False, "Continue a run that was interrupted.")
    run: PassagesRun = group(
        PassagesRun, "unit", "least", "preset", "gap", "do", "times", "documents", "sources", "site_share", "keep",
        "least_left", "date_format", *COLUMNS, "markup", "batch_size", "largest_record", "largest_ratio", "memory",
        "threads", "temp", "temp_limit",
    )  # fmt: skip
    printing: Printing = group(Printing)


def passages(options: PassagesOptions) -> None:
    """Find passages that occur more than once; report, mark or remove the copies."""
    from roughly.console.progress import Progress
    from roughly.console.run_estimate import PASSAGES
    from roughly.tools.passages.api import PassagesPlace, run_passages

    place = PassagesPlace(output=options.output, overwrite=options.printing.overwrite, resume=options.resume)
    stages = [name for name in PASSAGES if name != "copy" or options.run.request.do != "report"]
    with Progress(options.printing.quiet, options.printing.verbose, stages, PASSAGES) as progress:
        result = run_passages(
            None, options.inputs, options.run, place, against=options.against or None, listener=progress
        )
    if options.printing.as_json:
        print_json(result.summary)
    elif not options.printing.quiet:
        _print_summary(result, options.output)
    counts = result.summary["counts"]
    end([], failed=bool(counts["rejected"]) or result.leaked)


def _print_summary(result: PassagesResult, output: Path) -> None:
    from roughly.report.visible import excerpt

    counts: dict[str, Any] = result.summary["counts"]
    request = result.summary["request"]
    for row in result.passages.slice(0, _SHOWN).to_pylist():
        documents = f"in {counted(row['documents'], 'document')}"
        print(f"{row['places']:>7,} × {row['tokens']:>5,} tokens {documents}: {excerpt(row['excerpt'], 60)}")
    print(f"documents   {counts['documents']:,}; {counts['tokens']:,} tokens, {size(counts['bytes'])}")
    repeated = share(counts["repeated_tokens"], counts["tokens"])
    print(f"repeated    {repeated} of the tokens, {counted(counts['passages'], 'passage')}")
    copied = size(counts["copied_bytes"])
    documents = counts["documents_with_copies"] - counts["removed_whole"]
    copies = f"{counted(counts['spans'], 'span')}, {copied} in {counted(documents, 'document')}"
    verb = {"report": "", "mark": "; marked in kept/", "remove": "; removed"}[request["do"]]
    print(f"copies      {copies}{verb}")
    if counts["removed_whole"]:
        left = f"fewer than {counted(request['least_left'], 'token')} left in each"
        whole = f"{counted(counts['removed_whole'], 'document')}, {size(counts['removed_whole_bytes'])}"
        print(f"removed     {whole}, whole: {left}")
    if "seen_items" in counts:
        print(f"test items  {counts['seen_items']:,} of {counts['test_items']:,} occur in the input, in part or whole")
        if counts["short_items"]:
            print(
                f"            {counts['short_items']:,} have fewer than {request['least']} tokens and cannot be found"
            )
    if counts["rejected"]:
        print(f"rejected    {counted(counts['rejected'], 'record')}, see {output / 'quarantine.jsonl'}")
    seconds, memory = result.summary["seconds"], result.summary["peak_memory"] / 1e6
    print(f"took        {seconds:.1f} s, peak memory {memory:,.0f} MB")
    print(f"report      {output / 'report.html'}")
