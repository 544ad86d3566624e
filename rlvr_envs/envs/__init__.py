"""The environments: a folder a domain, a file a task; `_name.py` is a helper of its family."""
