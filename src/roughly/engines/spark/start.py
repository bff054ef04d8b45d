"""A Spark session to work in: the one that was given, or one that is started for a master."""

from __future__ import annotations

import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from roughly import errors
from roughly.errors import RoughlyError, SettingsError
from roughly.version import __version__

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # a batch of long documents stays below 2 GB
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""Settings of the session during a run; a given session gets its own back afterwards."""
_PROBLEM = re.compile(r"roughly\.errors\.(\w+): (.*)")


def start(master: str | None) -> Any:
    """A new session. `master` is a URL as Spark has it; None: as Spark is configured, or this machine."""
    _check()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("roughly").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    with _plain_start(master):
        return builder.getOrCreate()


def _check() -> None:
    try:
        import pandas  # noqa: F401 - PySpark asks for it
        import pyspark  # noqa: F401
    except ImportError:
        raise SettingsError("the engine spark needs PySpark and pandas: pip install 'roughly[spark]'") from None
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and shutil.which("java", path=os.path.join(home, "bin"))):  # noqa: PTH118
        raise SettingsError(
            "the engine spark needs Java 17 or later, and no java is on the PATH or below JAVA_HOME; "
            "install one (on Debian: openjdk-17-jre-headless)"
        )


@contextmanager
def _plain_start(master: str | None) -> Iterator[None]:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError, RuntimeError) as problem:
        words = str(problem).strip().splitlines()
        raise SettingsError(
            f"Spark did not start with the master {master!r}: {words[0] if words else problem!r}"
        ) from problem


@contextmanager
def prepared(spark: Any) -> Iterator[None]:
    """The session with a run's settings; our own errors from the workers are raised with their own type."""
    if not hasattr(spark, "_jsc"):
        raise SettingsError("this is a session of Spark Connect; give one that runs in this process (--master URL)")
    if is_local(spark.sparkContext.master):
        use_this_python(spark)
    else:
        check_workers(spark)
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    try:
        with warnings.catch_warnings(), plain_errors():
            # about pandas, of which nothing is used here
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def is_local(master: str) -> bool:
    """Whether the workers are threads of this machine's session."""
    return master == "local" or master.startswith("local[")


def use_this_python(spark: Any) -> None:
    """Let the workers of a local session run the Python that runs here, unless another one was named."""
    context = spark.sparkContext
    if "PYSPARK_PYTHON" not in os.environ and context.getConf().get("spark.pyspark.python") is None:
        context.pythonExec = sys.executable


def check_workers(spark: Any) -> None:
    """A first task on every worker: refuse a Python without this package, or with another version of it."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    context = spark.sparkContext
    tasks = max(1, int(context.defaultParallelism))
    try:
        answers = set(context.parallelize(range(tasks), tasks).map(_probe()).collect())
    except (PySparkException, Py4JJavaError) as problem:
        found = re.search(r"Cannot run program.*|\w+Error: .*|\[\w+MISMATCH\].*", str(problem))
        why = found[0] if found else errors.first_line(problem)
        raise SettingsError(
            f"the workers cannot run Python tasks ({why[:300]}); set PYSPARK_PYTHON to the Python that has roughly"
        ) from problem
    for python, version in sorted(answers):
        if version != __version__:
            has = f"has roughly {version}, and the driver {__version__}" if version else "has no package roughly"
            raise SettingsError(
                f"the Python of the workers, {python}, {has}; install roughly {__version__} there, or name another "
                "Python with PYSPARK_PYTHON"
            )


def _probe() -> Callable[[int], tuple[str, str]]:
    """A function that is sent by value, so that it runs where the package is missing."""

    def probe(number: int) -> tuple[str, str]:
        import sys

        try:
            from roughly.version import __version__ as found
        except ImportError:
            found = ""
        return sys.executable, found

    return probe


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise here, with its own type, an error that a worker raised on purpose."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as problem:
        found = _PROBLEM.search(str(problem))
        kind = getattr(errors, found[1], None) if found else None
        if found is None or not isinstance(kind, type) or not issubclass(kind, RoughlyError):
            raise
        raise kind(found[2]) from problem
