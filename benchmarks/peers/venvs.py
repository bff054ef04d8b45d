"""A virtual environment for every peer, made when first needed under `benchmarks/.peers/`.

Their dependencies contradict one another's and ours, so none is installed beside Roughly. Versions are pinned in
`peers/__init__.py`; a file in the environment says what was installed, and another pin installs again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.peers import Peer

FOLDER = Path(__file__).resolve().parents[1] / ".peers"
_TIMEOUT = 1800


class PeerUnavailable(RuntimeError):
    """A peer cannot be installed here; the message says why."""


def python_of(peer: Peer) -> Path:
    """The interpreter of the peer's environment, which is made and filled if need be."""
    home = FOLDER / peer.name.lower()
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = "\n".join(peer.requirements) + "\n"
    marker = home / "installed.txt"
    if python.exists() and marker.exists() and marker.read_text() == wanted:
        return python
    print(f"installing {', '.join(peer.requirements)} …", file=sys.stderr, flush=True)
    if not python.exists():
        _call([sys.executable, "-m", "venv", str(home)], f"no virtual environment for {peer.name}")
    _call(
        [str(python), "-m", "pip", "install", "--quiet", *peer.requirements],
        f"{peer.name} does not install",
    )
    marker.write_text(wanted)
    return python


def _call(command: list[str], trouble: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise PeerUnavailable(f"{trouble}: {problem}") from problem
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines()
        raise PeerUnavailable(f"{trouble}: {lines[-1].strip()[:300] if lines else 'pip gave no reason'}")
