"""Algorithms beyond the core, one file a method, registered as anybody's plug-ins are."""
