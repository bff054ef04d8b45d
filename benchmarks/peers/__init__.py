"""The peers: one file each, run in a virtual environment of its own with pinned versions.

A peer module is run as `python -m benchmarks.peers.NAME INPUT.jsonl OUT` and leaves in OUT, beside whatever
the tool itself writes, `clusters.tsv` (id, cluster, 1 if kept) and the documents it keeps. Its docstring says
which of the tool's own parts do the work and what had to be added. All use 5-word shingles, threshold 0.8 and
two processes or threads, and are timed from starting the process to its end: reading, tokenising and writing
are part of the job. Standard library only in this file and in `protocol.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

THRESHOLD = 0.8
WORKERS = 2
LEAST_BYTES = 300
"""Shortest repeated run of tools that compare bytes: about 50 words."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool to compare with: its module here, what pip installs, and the setting shown in the tables."""

    name: str
    module: str
    requirements: tuple[str, ...]
    setting: str
    sketches: bool = True  # whether its tokenising and sketching can be timed alone

    @property
    def version(self) -> str:
        """The pinned version of the tool itself."""
        return self.requirements[0].partition("==")[2]


PEERS = (
    Peer("datasketch", "datasketch", ("datasketch==2.0.0",), "9×13 by its own choice"),
    Peer("rensa", "rensa", ("rensa==0.5.0", "numpy==2.4.6"), "16×8, signatures checked"),
    Peer("gaoya", "gaoya", ("gaoya==0.2.2",), "16×8, signatures checked"),
    Peer("FastSketchLSH", "fastsketchlsh", ("FastSketchLSH==1.0.1", "numpy==2.4.6"), "16×8"),
    Peer("text-dedup", "text_dedup", ("text-dedup==0.4.0",), "16×15 by its own choice"),
    Peer(
        "datatrove",
        "datatrove",
        ("datatrove[io,processing]==0.10.1", "spacy==3.8.18"),
        "14×8, spaCy words",
        sketches=False,
    ),
    Peer("semhash", "semhash", ("semhash==0.5.0",), "static embeddings", sketches=False),
)

PASSAGE_PEERS = (
    Peer(
        "datatrove sentences",
        "datatrove_sentences",
        ("datatrove[io,processing]==0.10.1", "spacy==3.8.18"),
        "3 sentences",
        sketches=False,
    ),
    Peer(
        "suffix array (pydivsufsort)",
        "suffix_array",
        ("pydivsufsort==0.0.20", "numpy==2.4.6"),
        "300 bytes, finds only",
        sketches=False,
    ),
)
"""Peers of `roughly passages`: they write what is left of every document to OUT/kept/."""
