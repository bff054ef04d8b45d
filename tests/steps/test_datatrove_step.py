"""The step of a datatrove pipeline, run by datatrove itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # datatrove's own warnings are not ours

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."
TEXTS = ["Something else entirely, with nothing in common.", ROSE, ROSE.upper(), "A third text, short."]


@pytest.mark.parametrize("at_once", [1, 10_000])
def test_a_pipeline_keeps_what_is_new(at_once: int, tmp_path: Path) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    from roughly.steps.datatrove_step import DatatroveDeduplicator

    (tmp_path / "in").mkdir()
    lines = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate(TEXTS)]
    (tmp_path / "in" / "x.jsonl").write_text("\n".join(lines) + "\n")
    step = DatatroveDeduplicator(at_once=at_once, threshold=0.8, keep="first")
    steps = [JsonlReader(str(tmp_path / "in")), step, JsonlWriter(str(tmp_path / "out"))]
    LocalPipelineExecutor(pipeline=steps, tasks=1, logging_dir=str(tmp_path / "logs")).run()
    (written,) = (tmp_path / "out").glob("*.jsonl.gz")
    with gzip.open(written, "rt") as stream:
        assert [json.loads(line)["id"] for line in stream] == ["0", "1", "3"]


def test_ranks_share_a_file_or_are_told(tmp_path: Path) -> None:
    from datatrove.data import Document

    from roughly.errors import RoughlyWarning
    from roughly.steps.datatrove_step import DatatroveDeduplicator

    documents = [Document(text=text, id=str(n)) for n, text in enumerate(TEXTS)]
    kept = []
    for rank in range(2):
        step = DatatroveDeduplicator(archive=str(tmp_path / "a.db"), keep="first")
        kept += [document.id for document in step.run(documents[2 * rank : 2 * rank + 2], rank, 2)]
    assert kept == ["0", "1", "3"]
    with pytest.warns(RoughlyWarning, match="each rank compares its own documents only"):
        list(DatatroveDeduplicator().run(documents, 0, 2))
