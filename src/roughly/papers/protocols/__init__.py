"""Protocols: how experiments are done, one per file; experiments name them from `PROTOCOLS`."""

from __future__ import annotations

from roughly.papers.protocols import contrived, lexicons, perturbation, phases, spam, work
from roughly.papers.protocols import lexicon_growth as growing
from roughly.papers.protocols import method_comparison as comparison
from roughly.papers.protocols import method_counts as count
from roughly.papers.protocols import one_passage as passage
from roughly.papers.protocols import result_lists as results
from roughly.papers.protocols import sampling_study as sampling
from roughly.papers.protocols.protocol import Protocol

PROTOCOLS: dict[str, Protocol] = {
    module.PROTOCOL.name: module.PROTOCOL
    for module in (
        count, contrived, passage, work, perturbation, lexicons, spam, results, growing, sampling, phases, comparison,
    )
}  # fmt: skip
"""Every protocol by name."""
