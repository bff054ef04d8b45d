"""`roughly sign`: documents in, signatures out, for a database or a search engine."""

from __future__ import annotations

import time
from typing import Any

from roughly.console.commands import Given
from roughly.console.common_options import INPUTS, Printing, SettingsLayers
from roughly.console.terminal_output import end, print_json, print_speed
from roughly.declarations import argument, group, values
from roughly.fast_dataclass import dataclass
from roughly.settings import Settings
from roughly.signing.request import SignRequest

_OFFERED = (
    "output", "text_column", "id_column", "date_column", "format", "markup", "main_text", "packed", "memory",
    "threads", "temp", "overwrite",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SignOptions:
    """Options of the command `sign`."""

    inputs: list[str] = argument(help=INPUTS)
    request: SignRequest = group(SignRequest, *_OFFERED)
    settings: dict[str, Any] = values(
        Settings, "method", "threshold", "recall", "measure", "shingle_size", "seed", method="imatch"
    )
    layers: SettingsLayers = group(SettingsLayers)
    printing: Printing = group(Printing, "as_json", "quiet")


def sign(options: SignOptions, given: Given) -> None:
    """Write the signatures of documents to a Parquet file."""
    from roughly.job.gathered_settings import merge_settings

    preset, file = options.layers.preset, options.layers.settings_file
    first = {} if preset or file else {"method": options.settings["method"]}
    settings = merge_settings(first | given.settings(), preset=preset, file=file)
    from roughly.console.progress import Progress
    from roughly.signing.sign_files import run_sign

    start = time.perf_counter()
    with Progress(options.printing.quiet, options.printing.verbose) as progress:
        signed = run_sign(None, options.inputs, settings, options.request, progress)
    seconds = time.perf_counter() - start
    if options.printing.as_json:
        summary = {
            "output": str(options.request.output), "documents": signed.documents, "unsigned": signed.unsigned,
            "rejected": len(signed.rejects), "text_bytes": signed.text_bytes, "seconds": seconds,
            "guesses": signed.notes, **signed.made.to_dict(),
        }  # fmt: skip
        print_json(summary)
    elif not options.printing.quiet:
        print(f"signatures  {options.request.output}, {signed.made.method}, fingerprint {signed.made.fingerprint}")
        print(f"documents   {signed.documents:,}, {signed.unsigned:,} of them without a signature")
        for note in signed.notes:
            print(f"guessed     {note}")
        print_speed(signed.text_bytes, seconds, signed.rejects)
    end(signed.rejects)
