"""Tables in a page of documentation, between a mark and its end."""

import re
from pathlib import Path


def replace_table(page: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- end of name -->`."""
    marks = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    whole = marks[0] + text + "\n" + marks[1]
    page.write_text(re.sub(pattern, lambda _: whole, page.read_text(), flags=re.S))
