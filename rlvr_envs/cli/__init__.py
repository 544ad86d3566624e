"""The rlvr command: one file a subcommand."""
