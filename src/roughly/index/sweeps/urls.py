"""Addresses of pages, in the one form that tells whether two are the same page.

Scheme and host in lower case, no default port, no fragment; the rest stays as it is, since servers may mean it.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}


def canonical_url(url: str) -> str:
    """The form in which addresses are compared."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:  # a port that is no number, a bracket without its pair
        return url.partition("#")[0]
    if not parts.scheme or not host:
        return url.partition("#")[0]
    host = f"[{host}]" if ":" in host else host
    place = host if port is None or port == _PORTS.get(parts.scheme) else f"{host}:{port}"
    if parts.username is not None:
        place = f"{parts.netloc.rpartition('@')[0]}@{place}"
    return urlunsplit((parts.scheme, place, parts.path or "/", parts.query, ""))


def host_of(url: str) -> str:
    """The host of an address; empty where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
