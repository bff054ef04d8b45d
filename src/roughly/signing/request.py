"""The request of `sign`: the input, the output and the resources."""

from __future__ import annotations

from pathlib import Path

from roughly.declarations import REQUIRED, group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources


@dataclass(frozen=True, kw_only=True)
class SignRequest:
    """What `sign` reads, may use, and writes."""

    output: Path = option(REQUIRED, "Parquet file to write; must not exist.", "-o", "--output")
    overwrite: bool = option(False, "Replace an existing output.")
    packed: bool = option(False, "Term vectors in 184 bytes per document (term-vector; Conrad 2003).")
    main_text: bool = option(False, "Use only the main text of HTML: no navigation, header or footer.")
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, "threads", "temp", memory="1GB")
