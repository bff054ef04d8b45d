"""Where signatures are written, and what is read for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roughly.declarations import REQUIRED, group, option
from roughly.settings import ReadOptions, Resources


@dataclass(frozen=True, kw_only=True)
class SignRequest:
    """What a run of `sign` reads, may use, and writes."""

    output: Path = option(REQUIRED, "Parquet file to write; must not exist.", "-o", "--output")
    overwrite: bool = option(False, "Replace the output where it exists.")
    main_text: bool = option(False, "Take only the main text of HTML: no navigation, header or footer.")
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, memory="1GB")
