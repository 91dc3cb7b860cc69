"""Streamlit, and a server that waits for browsers as long as a test does."""

import sys

from streamlit.web.cli import main

from tests.browser import PATIENCE
from ui.components.painted import painted

if __name__ == "__main__":
    painted.LONGEST = PATIENCE / 1000
    sys.exit(main())
