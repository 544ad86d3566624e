"""A small server with the routes of vLLM 0.32 that a trainer needs, on a real model of transformers.

It answers from the weights that it was sent, token by token, with keys and values kept between
requests, and refuses what vLLM refuses. Faults, which a trainer has to notice, are set by name.
"""

import copy
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import torch
from safetensors.torch import load_file
from transformers import DynamicCache

FAULTS = {
    "forget": "an update is labelled, but its weights are not taken",
    "keep_cache": "keys and values of older weights are used again",
    "delay": "an update takes effect only after the next answer",
    "error": "updates end with HTTP 500",
}


class Refused(Exception):
    """What the server answers with a status other than 200."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class FakeVllm:
    """Serves a copy of a model, with other weights until it is sent some.

    Args:
        model: a causal language model of transformers.
        backend: of weight transfers; None for a server that was started without.
        logprobs_mode, max_model_len, scale_out, dev_mode: as the server was started.
        key: what requests have to bring along.
    """

    def __init__(
        self,
        model,
        *,
        backend="rlvr_file",
        logprobs_mode="processed_logprobs",
        max_model_len=512,
        scale_out=True,
        dev_mode=True,
        key=None,
    ):
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        for weight in self.model.parameters():
            weight.mul_(-0.5)
        self.backend, self.mode, self.length = backend, logprobs_mode, max_model_len
        self.scale_out, self.dev_mode, self.key = scale_out, dev_mode, key
        self.faults, self.seen = set(), []
        self.version, self.paused, self.connected = "default", False, False
        self.received = None  # the weights of an update under way
        self.late = None  # an update that takes effect later
        self.aborts = 0  # how often requests under way were ended
        self.prefixes, self.epoch = {}, 0  # computed prompts; how often all was forgotten
        self.change = threading.Condition()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(None)

            def do_POST(self):
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.answer(json.loads(data or b"{}"))

            def answer(self, body):
                try:
                    status, found = 200, fake.answer(self.path, body, self.headers)
                except Refused as refused:
                    status, found = refused.status, {"error": {"message": str(refused)}}
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def answer(self, path, body, headers):
        parts = urlsplit(path)
        name = parts.path.strip("/").replace("/", "_")
        with self.change:
            self.seen.append((parts.path, body))
        if self.key and headers.get("Authorization") != f"Bearer {self.key}":
            raise Refused(401, f"Unauthorized: {headers.get('Authorization')}")
        if name != "inference_v1_generate" and not self.dev_mode:
            raise Refused(404, "Not Found")
        handler = getattr(self, f"on_{name}", None)
        if handler is None:
            raise Refused(404, "Not Found")
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        return handler(body, **query)

    # What it is.

    def on_server_info(self, _, config_format="text"):
        transfer = {"backend": self.backend} if self.backend else None
        model = {"logprobs_mode": self.mode, "max_model_len": self.length}
        device = {"device": "cpu"}
        config = {
            "model_config": model,
            "weight_transfer_config": transfer,
            "device_config": device,
        }
        return {"vllm_config": config}

    def on_weight_info(self, _):
        return {"weight_version": self.version}

    # Updates.

    def on_pause(self, _, mode="abort"):
        if mode not in ("keep", "abort"):
            raise Refused(400, f"mode {mode} is not of this fake")
        with self.change:
            self.paused = True
            self.aborts += mode == "abort"
            self.change.notify_all()
        return {"status": "paused"}

    def on_resume(self, _):
        with self.change:
            self.paused = False
            self.change.notify_all()
        return {"status": "resumed"}

    def on_init_weight_transfer_engine(self, body):
        if self.backend is None:
            raise Refused(500, "Weight transfer not configured.")
        if body != {"init_info": {}}:
            raise Refused(500, f"Invalid init_info {body}")
        self.connected = True
        return {"message": "Weight transfer initialized"}

    def on_start_weight_update(self, _):
        if not self.connected:
            raise Refused(500, "Weight transfer not initialized.")
        if self.received is not None:
            raise Refused(500, "start_weight_update called while a weight update is active.")
        self.received = {}
        return {"message": "Weight update started"}

    def on_update_weights(self, body):
        if self.received is None:
            raise Refused(500, "start_weight_update must be called before update_weights.")
        if "error" in self.faults:
            self.received = None
            raise Refused(500, "out of memory")
        self.received = self.checked(load_file(body["update_info"]["path"]))
        missing = set(self.names()) - set(self.received)
        if missing:
            self.received = None
            raise Refused(500, f"the file lacks the weights {sorted(missing)}")
        return {"message": "Weights updated"}

    def on_finish_weight_update(self, body):
        if self.received is None:
            raise Refused(500, "finish_weight_update called without start_weight_update.")
        received, self.received = self.received, None
        self.take(received, body.get("weight_version"))
        return {"message": "Weight update finished"}

    def on_collective_rpc(self, body):
        if body.get("method") != "reload_weights":
            raise Refused(500, f"no method {body.get('method')}")
        if "error" in self.faults:
            raise Refused(500, "out of memory")
        file = Path(body["kwargs"]["weights_path"]) / "model.safetensors"
        self.take(self.checked(load_file(file)), None)
        return {"results": [None]}

    def on_update_weight_version(self, body):
        with self.change:
            if self.late is not None:
                self.late = (self.late[0], body["new_version"])
            else:
                self.version = body["new_version"]
        return {"success": True, "new_version": body["new_version"]}

    def on_reset_prefix_cache(self, _, reset_running_requests="false"):
        with self.change:
            if "keep_cache" not in self.faults:
                self.prefixes.clear()
                self.epoch += reset_running_requests == "true"
        return {"success": True}

    def names(self):
        tied = set(getattr(self.model, "_tied_weights_keys", None) or ())
        shared = self.model.config.tie_word_embeddings
        return [name for name in self.model.state_dict() if not (shared and name in tied)]

    def checked(self, weights):
        """Refuse unknown names and wrong shapes, as vLLM's loaders do."""
        own = self.model.state_dict()
        wrong = [
            name
            for name, value in weights.items()
            if name not in own or own[name].shape != value.shape
        ]
        if wrong:
            self.received = None
            raise Refused(500, f"unknown or of another shape: {wrong}")
        return weights

    def take(self, weights, version):
        with self.change:
            if "delay" in self.faults:
                self.late = (weights, version)
                return
            if "forget" not in self.faults:
                self.model.load_state_dict(weights, strict=False)
            if version is not None:
                self.version = version

    # Sampling.

    def on_inference_v1_generate(self, body):
        if not self.scale_out:
            raise Refused(403, "Scale-out endpoints are disabled.")
        if not body.get("token_ids"):
            raise Refused(422, "token_ids: field required")
        told = body["sampling_params"]
        if len(body["token_ids"]) + told["max_tokens"] > self.length:
            raise Refused(400, f"the context has {self.length} tokens")
        tokens, logps, starts = self.continued(body["token_ids"], told)
        ends = [start for _, start in starts[1:]] + [len(tokens)] * bool(starts)
        stopped = bool(tokens) and tokens[-1] in told["stop_token_ids"]
        limited = len(tokens) == told["max_tokens"]
        choice = {
            "index": 0,
            "token_ids": tokens,
            "logprobs": {
                "content": [
                    {"token_id": token, "logprob": logp, "rank": None, "top_logprobs": []}
                    for token, logp in zip(tokens, logps, strict=True)
                ]
            },
            "finish_reason": "stop" if stopped else "length" if limited else "abort",
            "weight_versions": [
                {"version": version, "start": start, "end": end}
                for (version, start), end in zip(starts, ends, strict=True)
            ],
        }
        with self.change:
            if self.late is not None:
                (weights, self.version), self.late = self.late, None
                self.model.load_state_dict(weights, strict=False)
        return {"request_id": "0", "choices": [choice]}

    def continued(self, prompt, told):
        generator = torch.Generator().manual_seed(told["seed"])
        tokens, logps, starts = [], [], []
        past, epoch, aborts = None, None, self.aborts
        while len(tokens) < told["max_tokens"]:
            with self.change:
                self.change.wait_for(lambda: not self.paused or self.aborts > aborts)
                if self.aborts > aborts:
                    break
                if epoch != self.epoch:
                    past, epoch = self.computed((*prompt, *tokens)[:-1]), self.epoch
                token, logp = self.step((*prompt, *tokens)[-1], past, told, generator)
                if not starts or starts[-1][0] != self.version:
                    starts.append((self.version, len(tokens)))
            tokens.append(token)
            logps.append(logp)
            if token in told["stop_token_ids"]:
                break
        return tokens, logps, starts

    @torch.no_grad()
    def computed(self, prefix):
        """Return keys and values of tokens, from an earlier request where there was one."""
        if not prefix:
            return DynamicCache()
        if prefix not in self.prefixes:
            ids = torch.tensor([prefix])
            self.prefixes[prefix] = self.model(input_ids=ids, use_cache=True).past_key_values
        return copy.deepcopy(self.prefixes[prefix])

    @torch.no_grad()
    def step(self, token, past, told, generator):
        ids = torch.tensor([[token]])
        logits = self.model(input_ids=ids, use_cache=True, past_key_values=past).logits[0, -1]
        scores = (logits / (told["temperature"] or 1.0)).log_softmax(-1)
        if told["temperature"]:
            drawn = int(torch.multinomial(scores.exp(), 1, generator=generator))
        else:
            drawn = int(scores.argmax())
        raw = logits.log_softmax(-1)
        return drawn, float((scores if self.mode == "processed_logprobs" else raw)[drawn])


@contextmanager
def serving(model, **settings):
    """Yield a fake server, and end it."""
    fake = FakeVllm(model, **settings)
    try:
        yield fake
    finally:
        fake.close()
