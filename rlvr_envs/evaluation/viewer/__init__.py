"""A page to look at runs in a browser: `index` writes it as files, `serve` shows them here."""
