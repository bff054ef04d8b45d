"""`roughly serve`: the API and the explorer in front of a run, an index, or both."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

import typer

_NEEDED = ("fastapi", "uvicorn", "multipart", "httpx")


def serve(
    paths: Annotated[
        list[str], typer.Argument(help="The folder of a run, an index (a file, or postgresql://…), or both.")
    ],
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="Where the documents of the run lie, if they have moved.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; any but this machine's needs tokens.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0 for any that is free.")] = 8080,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="Tokens, a line each: read, write or admin, and the token.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", help="A name that the service is known by, behind a proxy.")
    ] = None,
    key_file: Annotated[Path | None, typer.Option("--key-file", help="The key that the index was made with.")] = None,
    max_body: Annotated[str, typer.Option("--max-body", help="Most bytes of a request.")] = "16MB",
    max_stream: Annotated[str, typer.Option("--max-stream", help="Most bytes of a request of lines.")] = "4GB",
    max_batch: Annotated[int, typer.Option("--max-batch", help="Most documents or results in a list.")] = 10_000,
    max_text: Annotated[str, typer.Option("--max-text", help="Most bytes of a text.")] = "10MB",
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds until an answer must have begun.")] = 30.0,
    rate: Annotated[float, typer.Option("--rate", help="Requests a second of one caller; 0 for any number.")] = 200.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No line for each request.")] = False,
) -> None:
    """Serve the API and the explorer until Ctrl-C."""
    from roughly.errors import SettingsError

    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise SettingsError(f"serving needs more packages ({', '.join(missing)}); pip install 'roughly[serve]'")
    from roughly.service.access_tokens import read_tokens
    from roughly.service.security import allowed
    from roughly.service.served_data import ServedData
    from roughly.service.service_config import ServiceConfig
    from roughly.service.serving import serve as run
    from roughly.settings import parse_size

    tokens = read_tokens(token_file)
    config = ServiceConfig(
        host=host, port=port, read_tokens=tokens["read"], write_tokens=tokens["write"], admin_tokens=tokens["admin"],
        allowed_hosts=allowed(allow_host or []), max_body=parse_size(max_body), max_stream=parse_size(max_stream),
        max_batch=max_batch, max_text=parse_size(max_text), timeout=timeout, rate=rate,
    )  # fmt: skip
    holdings = ServedData.open(paths, key_file=key_file, inputs=inputs)
    try:
        run(holdings, config, quiet=quiet, ready=_ready)
    finally:
        holdings.close()


def _ready(address: str) -> None:
    print(f"serving at {address}/  (Ctrl-C ends it)", file=sys.stderr, flush=True)
