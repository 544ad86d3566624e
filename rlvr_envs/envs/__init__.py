"""The environments: one folder a domain, one file a task; a leading underscore marks a family's helper."""
