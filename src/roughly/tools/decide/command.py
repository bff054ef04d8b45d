"""`roughly apply RUN`: a new run with its `kept/`, in which the decisions about the run count."""

from __future__ import annotations

from pathlib import Path

from roughly.amounts import counted
from roughly.console.common_options import Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import Resources

_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """Options of the command `apply`."""

    run: Path = argument(help="Folder of a run of `roughly dedupe`.")
    output: Path | None = option(None, "Folder of the new run; RUN.decided if not given.", "-o", "--output")
    preview: bool = option(False, "List what would change, and write nothing.")
    inputs: list[str] | None = option(None, "The run's input, if it has moved.", "--input")
    printing: Printing = group(Printing)
    resources: Resources = group(Resources, "threads", "memory")


def apply(options: ApplyOptions) -> None:
    """Apply the decisions about a run: write a new run, with what is kept and what was overridden by whom."""
    from roughly.tools.decide.api import AppliedDecisions, Decisions

    with Decisions(options.run, inputs=options.inputs) as decisions:
        if options.preview:
            changed = tuple(decisions.effects())
            counts = decisions.run.run_json["counts"]
            back = sum(one.kept - one.was_kept for one in changed)
            kept, removed = counts["kept"] + back, counts["removed"] - back
            done = AppliedDecisions(options.run, len(decisions), kept, removed, changed)
        else:
            done = decisions.apply(options.output, overwrite=options.printing.overwrite, resources=options.resources)
    if options.printing.as_json:
        print_json(done.to_dict())
        return
    if options.printing.quiet:
        return
    print(f"decisions   {done.decisions:,}")
    print(f"changed     {counted(len(done.changed), 'document')}, {len(done.overridden):,} against what was verified")
    for one in done.changed[:_LISTED]:
        state = "kept" if one.kept else f"removed for {one.kept_id}"
        numbers, people = ", ".join(map(str, one.decisions)), ", ".join(one.by)
        print(f"  {one.doc_id}: {state}: {one.why} (decision {numbers}, by {people})")
    if len(done.changed) > _LISTED:
        print(f"  … and {len(done.changed) - _LISTED:,} more; changes.jsonl has all of them")
    print(f"kept        {done.kept:,}, removed {done.removed:,}")
    if not options.preview:
        print(f"written     {done.folder}")
