"""Writes the templates of the report as Python (`src/roughly/report/compiled`), after one of them was edited.

python docs/make_report.py
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src" / "roughly" / "report" / "compiled"


def main() -> None:
    """Write all modules again."""
    from roughly.report.page_templates import compiled_modules

    for name, code in compiled_modules():
        (FOLDER / f"{name}.py").write_text(code, encoding="utf-8")


if __name__ == "__main__":
    main()
