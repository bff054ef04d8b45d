"""A result as HTML for a notebook cell: counts, kinds of duplicates, and remarks."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from roughly.job.remarks import remarks_on
from roughly.result_table import table_html


def result_html(run: Mapping[str, Any], removed: pa.Table) -> str:
    """The cell; `run` is run.json, `removed` the removed documents."""
    counts, settings = run["counts"], run["settings"]
    names = ("documents", "kept", "removed", "clusters", "rejected")
    kinds = pc.value_counts(removed["kind"].fill_null("not compared")).to_pylist()
    kinds = sorted(
        ({"kind": one["values"], "removed": one["counts"]} for one in kinds), key=lambda one: -one["removed"]
    )
    line = f"{settings['method']}, threshold {settings['threshold']:g}, recall {settings['recall']:g}"
    remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks_on(run))
    return (
        f"<p><b>Result</b>: {html.escape(line)}</p>"
        + table_html(names, [{name: f"{counts.get(name, 0):,}" for name in names}], 1)
        + (table_html(("kind", "removed"), kinds, len(kinds)) if kinds else "")
        + (f"<ul>{remarks}</ul>" if remarks else "")
    )
