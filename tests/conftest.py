"""What the tests of several files share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium, one for each file."""
    with chromium() as started:
        yield started
