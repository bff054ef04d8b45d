"""Urls of pages in a canonical form, in which two urls of the same page are equal.

Scheme and host are in lower case, without default port and fragment; the rest is kept, since it may matter to servers.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}


def canonical_url(url: str) -> str:
    """The form in which urls are compared."""
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
    """The host of a url; empty where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
