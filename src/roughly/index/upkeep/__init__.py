"""Maintenance of an index: check, refresh, upgrade, bulk load, import, export."""
