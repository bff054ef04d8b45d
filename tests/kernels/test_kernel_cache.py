"""Compiled kernels on disk: never stale, never in anyone's way, not needed for an import."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import roughly
from roughly import kernels
from roughly.kernels import loading

PACKAGE = Path(roughly.__path__[0])


def run(code: str, path: Path | None = None, **environment: str) -> str:
    """What a fresh Python prints."""
    env = os.environ | {"PYTHONPATH": str(path or PACKAGE.parent)} | environment
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_does_not_import_numba() -> None:
    code = (
        "import sys, roughly.kernels, roughly.text.canonical, roughly.features.shingles; print('numba' in sys.modules)"
    )
    assert run(code) == "False"


def test_the_folder_changes_with_any_kernel_source(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "roughly", ignore=shutil.ignore_patterns("__pycache__"))
    code = "from roughly import kernels; print(kernels.cache_folder())"
    cache = str(tmp_path / "cache")
    before = run(code, tmp_path, NUMBA_CACHE_DIR=cache)
    assert before == run(code, tmp_path, NUMBA_CACHE_DIR=cache)
    assert before.startswith(cache)
    source = tmp_path / "roughly" / "kernels" / "hashing.py"
    source.write_text(source.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    assert run(code, tmp_path, NUMBA_CACHE_DIR=cache) != before


def test_an_edit_in_another_module_is_seen(tmp_path: Path) -> None:
    """Numba alone would go on using the old constant: it looks at the kernel's own file only."""
    shutil.copytree(PACKAGE, tmp_path / "roughly", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import numpy as np; from roughly.kernels.shingles import shingles; out = np.empty(1, np.uint64); "
        "shingles(np.array([7, 77, 777], np.uint64), np.uint64(0), np.uint64(3), np.uint64(3), out); print(out[0])"
    )
    before = run(code, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    source = tmp_path / "roughly" / "kernels" / "hashing.py"
    text = source.read_text(encoding="utf-8")
    assert "0x3C79AC492BA7B653" in text
    source.write_text(text.replace("0x3C79AC492BA7B653", "0x3C79AC492BA7B655"), encoding="utf-8")
    assert run(code, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) != before


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    code = (
        "import numpy as np; from roughly import kernels; from roughly.kernels.hashing import mix; "
        "print(int(mix(np.uint64(1)))); print(kernels.cache_folder())"
    )
    value, folder = run(code, NUMBA_CACHE_DIR=str(blocked)).splitlines()
    assert int(value) > 0
    assert not folder.startswith(str(tmp_path))
    assert not Path(folder).exists()  # private, and gone with the process


def test_numba_stays_as_others_set_it() -> None:
    code = (
        "import numba; numba.config.CACHE_DIR = 'theirs'; import roughly.kernels.hashing; print(numba.config.CACHE_DIR)"
    )
    assert run(code) == "theirs"


def test_compile_all_leaves_a_full_cache() -> None:
    assert kernels.compile_all() > 0
    assert kernels.is_cached()


def test_compiled_kernels_load_without_making_numba_ready_to_compile() -> None:
    """`compile_all` has tried it; then no kernel of ours brings in what only a compiler needs."""
    kernels.compile_all()
    code = (
        "import sys; from roughly import kernels; from roughly.kernels import loading; loading.alone = True; "
        "assert kernels._loads_quickly(); kernels.warm_up(['hashing', 'tokens', 'minhash', 'jsonlines', 'shingles']); "
        "print(sorted({'numba.np.linalg', 'numba.np.random.distributions', 'scipy.linalg'} & set(sys.modules)))"
    )
    assert run(code) == "[]"


def test_what_is_not_cached_is_compiled_all_the_same(tmp_path: Path) -> None:
    code = (
        "import numpy as np; from roughly.kernels import loading; loading.trying = True; "
        "from roughly.kernels.hashing import mix; print(int(mix(np.uint64(1))))"
    )
    fresh = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert fresh == run(code, NUMBA_CACHE_DIR=str(tmp_path)), "from the cache it is another"
    assert fresh == run("import numpy as np; from roughly.kernels.hashing import mix; print(int(mix(np.uint64(1))))")


def test_others_keep_numba_as_it_is() -> None:
    """A function that is not ours, in a process with quick kernels, can be compiled, with BLAS."""
    code = (
        "import numba, numpy as np; from roughly import kernels; kernels.warm_up(['hashing']); "
        "f = numba.njit(lambda a: np.dot(a, a)); print(f(np.ones(3)))"
    )
    assert run(code) == "3.0"


def test_threads_may_enter_numba_by_different_doors() -> None:
    code = (
        "import importlib, threading; bad = []; threading.excepthook = lambda problem: bad.append(problem); "
        "names = ('align', 'hashing', 'resolve', 'words'); "
        "threads = [threading.Thread(target=importlib.import_module, args=('roughly.kernels.' + n,)) for n in names]; "
        "[t.start() for t in threads]; [t.join() for t in threads]; print(bad)"
    )
    assert run(code) == "[]"


def test_an_interrupt_waits_until_a_kernel_is_loaded() -> None:
    loaded = False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    try:
        with pytest.raises(KeyboardInterrupt), loading._undisturbed():
            signal.raise_signal(signal.SIGINT)
            loaded = True
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert loaded
