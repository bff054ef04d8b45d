"""Files of signatures: a changed one is refused, or its signatures fit together and can be clustered."""

from __future__ import annotations

from pathlib import Path

import mutation

from roughly.signing.signature_file import read_signatures
from roughly.tools.recluster.stored_clusters import recluster

SEEDS = Path(__file__).resolve().parents[1] / "tests" / "fuzz_seeds" / "signature_file"


def use(path: Path) -> None:
    """Read signatures and cluster them."""
    found = read_signatures([path])
    assert len(found.tokens) == len(found.dates) == len(found.equal) == len(found)
    recluster([path])


def run(wanted: int, findings: Path) -> dict[str, int]:
    """Try this many bytes."""
    seeds = [path.read_bytes() for path in sorted(SEEDS.iterdir())]
    return mutation.run_target(seeds, mutation.mutated, use, wanted, findings)
