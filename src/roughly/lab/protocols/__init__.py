"""Protocols: how experiments are done. One a file; `PROTOCOLS` is the list that files name them from."""

from __future__ import annotations

from roughly.lab.protocols import (
    contrived,
    count,
    growing,
    lexicons,
    passage,
    perturbation,
    phases,
    results,
    sampling,
    spam,
    work,
)
from roughly.lab.protocols.protocol import Protocol

PROTOCOLS: dict[str, Protocol] = {
    module.PROTOCOL.name: module.PROTOCOL
    for module in (
        count, contrived, passage, work, perturbation, lexicons, spam, results, growing, sampling, phases,
    )
}  # fmt: skip
"""Every protocol by name."""
