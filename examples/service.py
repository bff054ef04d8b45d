"""A service and its client: an index is served, a document is added over HTTP, and its copy is known."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import roughly

with tempfile.TemporaryDirectory() as name:
    place = Path(name) / "archive.db"
    roughly.Index.create(place).close()
    command = [sys.executable, "-m", "roughly", "serve", str(place), "--port", "0", "--quiet"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    address = next(found[1] for line in server.stderr if (found := re.search(r"(http://\S+)/", line)))
    with roughly.Client(address) as client:
        rain = "Heavy rain fell on the whole coast from Monday night until Wednesday, and the river rose by two metres."
        print("rain was", client.add({"doc_id": "rain", "text": rain}).status)
        (match,) = client.check(f"{rain} Nobody was hurt.")
        print(f"its copy is known: {match.doc_id}, resemblance {match.resemblance:.2f}")
        print("sunshine is known:", bool(client.check("Sunshine all week, and no wind at all.")))
        print("documents:", client.stats().documents)
    server.terminate()
    print("ended with", server.wait())
    server.stderr.close()
