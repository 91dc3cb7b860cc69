"""Components in the browser: one folder each, with Python, JavaScript, CSS and HTML."""
