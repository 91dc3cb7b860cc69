"""Parts that live in the browser: one folder each, with its Python, JavaScript, CSS and HTML."""
