"""Copies made on purpose, with labels: from small slips to pages that only look alike. Seeded: the same arguments give
the
same copies, whatever the order of the input.

| module | what |
|---|---|
| `kinds` | every kind of copy by name |
| `edits`, `units`, `words`, `noise`, `spam` | how each is made |
| `recipe`, `passage` | what an edit says, and a text that does it |
| `make` | copies of a corpus |
| `terms` | the words that are put in |
"""

from roughly.tools.perturb.copy_kinds import KINDS, CopyKind
from roughly.tools.perturb.cut_text import CutText
from roughly.tools.perturb.make import LabelledCopy, Maker, PerturbRequest, perturb

__all__ = ["KINDS", "CopyKind", "CutText", "LabelledCopy", "Maker", "PerturbRequest", "perturb"]
