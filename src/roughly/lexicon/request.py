"""The request of `lexicon build`: the filters and the reading."""

from __future__ import annotations

from typing import Any

from roughly.declarations import group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources


@dataclass(frozen=True, kw_only=True)
class BuildRequest:
    """The terms to count. `filters` are names with commas, or a `Filters`."""

    filters: Any = option("", "Filters: sw, tg5, tl25, nosc, stem; separate several with commas.", "--filter", read=str)
    main_text: bool = option(False, "Use only the main text of HTML: no navigation, header or footer.")
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, "threads", "temp", memory="1GB")
