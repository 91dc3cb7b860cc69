"""Numbers side by side, each above its name."""

from collections.abc import Sequence
from html import escape


def numbers(items: Sequence[tuple[str, str]]) -> str:
    """Numbers side by side, each above its name, as HTML; the first is bold."""
    each = "".join(
        f'<div><div style="font-size:1.25rem;font-weight:{700 if index == 0 else 600};'
        f'font-variant-numeric:tabular-nums;opacity:{1 if index == 0 else 0.75}">{escape(value)}'
        f'</div><div style="font-size:.8rem;opacity:.7">{escape(name)}</div></div>'
        for index, (value, name) in enumerate(items)
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.6rem 2rem">{each}</div>'
