"""A Spark session to work in: the one that was given, or one that is started for a master."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from roughly import errors
from roughly.errors import RoughlyError, SettingsError

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # a batch of long documents stays below 2 GB
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""What a run needs of a session; a session that was given has its own back afterwards."""
_PROBLEM = re.compile(r"roughly\.errors\.(\w+): (.*)")


def start(master: str | None) -> Any:
    """A session of our own. `master` is a URL as Spark has it; None: as Spark is configured, or this machine."""
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
    """The session with what a run needs; our own errors come back from the workers as what they are."""
    if not hasattr(spark, "_jsc"):
        raise SettingsError("this is a session of Spark Connect; give one that runs in this process (--master URL)")
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


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise an error that a worker raised on purpose here, as the error that it is."""
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
