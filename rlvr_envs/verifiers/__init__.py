"""Pure functions from a problem's data and an answer to a verdict; no environment is known here."""
