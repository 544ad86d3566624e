"""vLLM as a sampler: as a server over HTTP, or colocated in the trainer's process.

- `client`: the server's routes, with errors, keys and repeated attempts;
- `transport`: ways to hand the server new weights;
- `plugin`: what runs inside the server for one of these ways;
- `server`: the sampler on a server;
- `colocate`: the sampler in this process.
"""
