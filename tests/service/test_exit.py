"""A process that ends while its service is open ends quietly, whatever its threads are doing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import roughly
from roughly import Index
from stream_texts import prose

SCRIPT = """
import sys, time
from starlette.testclient import TestClient
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
client = TestClient(create_app(ServedData.open(sys.argv[2:])), base_url="http://127.0.0.1")
client.__enter__()
time.sleep(float(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("served")
    rows = [{"id": f"d{n}", "text": f"{prose(n // 3, 20)} x{n}", "date": "2024-01-02"} for n in range(30_000)]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    roughly.dedupe(folder / "in.jsonl", output=folder / "run", pairs="all")
    with Index.create(folder / "index.db") as index:
        index.add([{"doc_id": row["id"], "text": row["text"]} for row in rows[:30]])
    return [str(folder / "run"), str(folder / "index.db")]


@pytest.mark.parametrize("seconds", ["0", "0.1", "0.2", "0.3"])
def test_a_service_that_is_left_open_does_not_crash_the_process(seconds: str, served: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, seconds, *served], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "Fatal" not in done.stderr, done.stderr
