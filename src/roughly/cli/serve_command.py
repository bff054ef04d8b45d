"""`roughly serve`: the API and the explorer for a run, its passages, an index, or several of them."""

from __future__ import annotations

import sys
from pathlib import Path

from roughly.console.common_options import Printing
from roughly.declarations import argument, group, option
from roughly.fast_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of the command `serve`."""

    paths: list[str] = argument(
        help="The folder of a run of dedupe or passages, an index (a file, or postgresql://…), or several."
    )
    inputs: list[str] | None = option(None, "The run's input, if it has moved.", "--input")
    host: str = option("127.0.0.1", "Address to listen on; any but this machine's needs tokens.")
    port: int = option(8080, "Port to listen on; 0 for any that is free.")
    token_file: Path | None = option(None, "File of tokens, one per line: read, write or admin, and the token.")
    allow_host: list[str] | None = option(None, "A host name of the service, behind a proxy.")
    proxy: list[str] | None = option(None, "Address of a proxy whose X-Forwarded-For and X-Forwarded-Proto count.")
    key_file: Path | None = option(None, "The key that the index was made with.")
    max_connections: int = option(1_000, "Most connections at the same time; a quarter of them per client.")
    max_body: str = option("16MB", "Most bytes per request.")
    max_stream: str = option("4GB", "Most bytes per request of lines.")
    max_batch: int = option(10_000, "Most documents or results per list.")
    max_text: str = option("10MB", "Most bytes per text.")
    timeout: float = option(30.0, "Seconds until an answer must begin.")
    rate: float = option(200.0, "Requests per second and caller (0 = unlimited).")
    printing: Printing = group(Printing, "quiet")


def serve(options: ServeOptions) -> None:
    """Serve the API and the explorer until Ctrl-C."""
    from roughly.service.access_tokens import read_tokens
    from roughly.service.security import allowed
    from roughly.service.served_data import ServedData
    from roughly.service.service_config import ServiceConfig
    from roughly.service.serving import serve as run
    from roughly.settings import parse_size

    tokens = read_tokens(options.token_file)
    config = ServiceConfig(
        host=options.host,
        port=options.port,
        read_tokens=tokens["read"],
        write_tokens=tokens["write"],
        admin_tokens=tokens["admin"],
        allowed_hosts=allowed(options.allow_host or []),
        proxies=frozenset(options.proxy or []),
        max_connections=options.max_connections,
        max_body=parse_size(options.max_body),
        max_stream=parse_size(options.max_stream),
        max_batch=options.max_batch,
        max_text=parse_size(options.max_text),
        timeout=options.timeout,
        rate=options.rate,
    )
    holdings = ServedData.open(options.paths, key_file=options.key_file, inputs=options.inputs)
    try:
        run(holdings, config, quiet=options.printing.quiet, ready=_ready)
    finally:
        holdings.close()


def _ready(address: str) -> None:
    print(f"serving at {address}/  (Ctrl-C ends it)", file=sys.stderr, flush=True)
