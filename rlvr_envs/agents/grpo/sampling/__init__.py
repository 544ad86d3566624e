"""What continues token sequences: our own engine, plain transformers, an HTTP server."""
