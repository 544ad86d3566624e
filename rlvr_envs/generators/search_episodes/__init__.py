"""Episodes with search tools: how calls are read, the browser, the session, and the oracle."""
