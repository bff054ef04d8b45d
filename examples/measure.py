"""How much of what was hidden is found: copies made on purpose, a run, and its figures."""

import gzip
import tempfile
from pathlib import Path

import roughly

source = Path(__file__).parent / "policies.jsonl.gz"
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        (folder / "some.jsonl").write_text("".join(line for _, line in zip(range(60), lines, strict=False)), "utf-8")
    made = roughly.perturb(folder / "some.jsonl", output=folder / "made", kinds=["ocr", "form"], alpha=8.5, seed=1)
    for kind, figures in made.kinds.items():
        print(f"{kind}: {figures['copies']} copies, mean resemblance {figures['resemblance']:.2f}")
    roughly.dedupe(
        paths=[folder / "made" / "documents.parquet"], output=folder / "run", threshold=0.75, cluster="components"
    )
    pairs = roughly.evaluate(folder / "run", folder / "made" / "pairs.csv").figures.pairs
    print(f"found {pairs.both} of {pairs.true}, precision {pairs.precision:.2f}")
