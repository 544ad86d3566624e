"""Environments over the network: `rlvr serve`, and the clients for it.

The server speaks the wire of OpenEnv 0.10 and has two calls without a session, ``/problems`` and
``/verify``. The clients need neither FastAPI nor uvicorn.
"""
