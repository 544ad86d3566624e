"""An OpenAI-compatible endpoint on this machine that follows a script."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from rlvr_envs.evaluation import PolicyOptions, evaluate

KEY_VARIABLE = "RLVR_TEST_KEY"


def completion(text, finish="stop"):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": {"completion_tokens": 3}})


class Server:
    """Answers each request with the next of a script, and the last for ever.

    A step is a status, a body and headers, or a function from the request to them. A body is a
    text, bytes, or pieces of bytes, each of which is sent by itself.
    """

    def __init__(self):
        self.script = [(200, completion("\\boxed{1}"), {})]
        self.requests = []
        self.times = []
        self.clients = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self):
                with suppress(ConnectionResetError):  # a client that has ended
                    super().handle()

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    number = len(outer.requests)
                    outer.times.append(time.monotonic())
                    outer.clients.append(self.client_address)
                    outer.requests.append((self.path, dict(self.headers), body))
                step = outer.script[min(number, len(outer.script) - 1)]
                status, text, headers = step(body) if callable(step) else step
                data = text.encode() if isinstance(text, str) else text
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    if isinstance(data, bytes):
                        self.send_header("Content-Length", str(len(data)))
                    else:
                        self.send_header("Connection", "close")
                    self.end_headers()
                    for piece in [data] if isinstance(data, bytes) else data:
                        self.wfile.write(piece)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # a client that has lost its patience

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def options(self, **more):
        return PolicyOptions(base_url=self.url, api_key_env=KEY_VARIABLE, **more)

    def evaluate(self, out=None, episodes=1, task="EvalPlus-v0", samples=1, **more):
        options = self.options(**more)
        return evaluate(
            task, "openai:stub", episodes=episodes, samples=samples, options=options, out=out
        )

    def stop(self):
        self.stopped.set()
        self.http.shutdown()
        self.http.server_close()


def message(**fields):
    """Return a step whose message has these fields."""
    body = {"choices": [{"message": {"role": "assistant", "content": None} | fields}]}
    return 200, json.dumps(body), {}


def events(*chunks, done=True):
    """Return the bytes of a stream of these chunks."""
    lines = [*map(json.dumps, chunks), *["[DONE]"] * done]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def streamed(body):
    """Return a step that streams these bytes, or pieces of bytes."""
    return 200, body, {"Content-Type": "text/event-stream; charset=utf-8"}


def delta(finish=None, **fields):
    """Return a chunk of a stream."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}
