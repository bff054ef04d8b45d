"""Makes the default English lexicon: `python -m roughly.lexicon.make_default COUNTS` writes `english.lexicon` here.

COUNTS is a table of counts made elsewhere, tab-separated, zstd: a line `#documents` with their number, a line of column
names, then one line per token: the token, its document frequency and its collection frequency. `docs/lexicon.md` says
what they were counted from. Run it only to change the lexicon, which changes every signature made with it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import zstandard

from roughly.lexicon.format import LexiconFacts
from roughly.lexicon.lexicon import Lexicon
from roughly.lexicon.lexicon_writer import write_lexicon
from roughly.lexicon.term_table import counted
from roughly.lexicon.thresholds import Thresholds
from roughly.text.vocabulary import Vocabulary

TARGET = Path(__file__).with_name("english.lexicon")
ORIGIN = "mixed English text: newswire, newsgroups, mail, RFCs, manuals, package descriptions"
LEAST = 5


def make(counts: Path, target: Path = TARGET) -> None:
    """Write the lexicon of a table of counts."""
    with counts.open("rb") as file:
        lines = zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8").splitlines()
    documents = int(lines[0].split("\t")[1])
    rows = [line.split("\t") for line in lines[2:]]
    vocabulary = Vocabulary()
    numbered = vocabulary.number(pa.array([row[0] for row in rows], pa.large_string()))
    if len(numbered.numbers) != len(rows) or len(vocabulary) != len(rows):
        raise SystemExit(f"{counts.name} has a line that is not one token, or a token twice")
    frequencies = np.array([int(row[1]) for row in rows], np.uint32)
    facts = LexiconFacts(documents=documents, origin=ORIGIN, thresholds=Thresholds(min_df=LEAST))
    with tempfile.TemporaryDirectory() as scratch:
        write_lexicon(target, facts, [counted(vocabulary, frequencies)], Path(scratch))


def main() -> None:
    """Write the lexicon and print a summary."""
    if len(sys.argv) != 2:
        raise SystemExit("name the table of counts")
    make(Path(sys.argv[1]))
    sys.stdout.write(f"{Lexicon.open(TARGET)!r}, {TARGET.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
