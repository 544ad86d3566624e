"""A model behind an OpenAI-compatible endpoint on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import rlvr_envs

WRONG = "I do not know: \\boxed{0}"


class ChatServer:
    """Answers each chat request with what a function says to its messages, streamed if so asked.

    Use it in a ``with`` block; ``url`` is the base URL and ``requests`` holds the bodies.
    """

    def __init__(self, answer):
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                streamed = bool(body.get("stream"))
                write = _streamed if streamed else _whole
                data = write(body["model"], answer(body["messages"])).encode()
                try:
                    self.send_response(200)
                    kind = "text/event-stream" if streamed else "application/json"
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # a client that has ended

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._http.server_close()


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _whole(model, text):
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    head = {"id": "1", "object": "chat.completion", "created": 0, "model": model}
    return json.dumps({**head, "choices": [choice], "usage": _USAGE})


def _streamed(model, text):
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": model}
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": _USAGE},
    ]
    lines = [*(json.dumps(head | chunk) for chunk in chunks), "[DONE]"]
    return "".join(f"data: {line}\n\n" for line in lines)


def oracle(rows, fails=()):
    """Return a model that plays the rows' own solutions, but answers those in ``fails`` wrongly.

    Args:
        rows: with prompts that differ.
        fails: numbers of rows.
    """
    solutions = {row["prompt"]: rlvr_envs.solve(row) for row in rows}
    wrong = {rows[index]["prompt"] for index in fails}

    def answer(messages):
        asked = [each["content"] for each in messages if each["role"] == "user"]
        if asked[0] in wrong:
            return WRONG
        solution = solutions[asked[0]]
        return solution if isinstance(solution, str) else solution[len(asked) - 1]

    return answer
