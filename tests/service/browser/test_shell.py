from __future__ import annotations

import pytest
from browsing import SCREENS, Look, axe, fits, shot


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_a_page_that_is_not_there(look: Look, width: int, scheme: str) -> None:
    page = look("/nowhere", width, scheme, status=404)
    assert page.locator("h1").inner_text()
    fits(page)
    axe(page)
    shot(page, f"error-{width}-{scheme}")
