"""A server of environments in a process of its own, as `rlvr serve` starts it."""

import json
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

from patience import PATIENCE_S


class Served:
    """Runs `rlvr serve` on a free port, or on the port of an earlier server."""

    def __init__(self, *arguments, port=0):
        self.lines = []
        self.url = None
        self._listening = threading.Event()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rlvr_envs", "serve", *arguments, "--port", str(port)],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._listening.wait(PATIENCE_S), self.lines
        assert self.url is not None, self.lines

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if '"listening"' in line:
                self.url = json.loads(line)["url"]
                self._listening.set()
        self._listening.set()

    @property
    def port(self):
        return int(self.url.rpartition(":")[2])

    @property
    def log(self):
        return "".join(self.lines)

    def socket(self, env=None, token=None):
        path = f"/k/{token}" if token else ""
        return f"ws{self.url.removeprefix('http')}{path}{f'/e/{env}' if env else ''}/ws"

    def get(self, path, token=None):
        request = urllib.request.Request(self.url + path)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
            return reply.read().decode()

    def post(self, path, body):
        data = json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
            return json.load(reply)

    def metric(self, name):
        for line in self.get("/metrics").splitlines():
            if line.rpartition(" ")[0] == name:
                return float(line.rpartition(" ")[2])
        return 0.0

    def workers(self):
        """Return the process ids of the workers: the children of the fork server."""
        return [pid for child in _children(self.process.pid) for pid in _children(child)]

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.wait()


def _children(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
        if parent == pid:
            found.append(int(status.parent.name))
    return found
