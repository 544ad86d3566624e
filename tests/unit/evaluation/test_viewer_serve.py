"""The server gives the page to this machine's browser, and to no other page."""

import http.client
import threading

import pytest

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.evaluation.viewer.serve import server


@pytest.fixture
def ask(tmp_path):
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "a.js").write_text("rlvr()")
    (tmp_path / "secret").write_text("no")
    with server(tmp_path / "page") as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        port = serving.server_address[1]

        def ask(path, method="GET", **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers={"Host": f"127.0.0.1:{port}", **named})
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            return answer, body

        ask.port = port
        yield ask
        serving.shutdown()
        thread.join()


def test_the_page_gets_its_files(ask):
    answer, body = ask("/a.js", Sec_Fetch_Site="same-origin")
    assert (answer.status, body) == (200, b"rlvr()")
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert ask("/a.js", Host=f"localhost:{ask.port}")[0].status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}],
)
def test_other_pages_get_nothing(ask, headers, method):
    answer, body = ask("/a.js", method, **headers)
    assert answer.status == 403
    assert b"rlvr()" not in body


@pytest.mark.parametrize("path", ["/", "/../secret", "/%2e%2e/secret", "//secret"])
def test_nothing_beside_the_files_is_given(ask, path):
    answer, body = ask(path)
    assert answer.status == 404
    assert body != b"no"


def test_a_page_that_cannot_be_made_anew_says_why(tmp_path):
    def broken():
        raise RowError("line 3 holds no episode")

    with server(tmp_path, newest=broken) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        connection = http.client.HTTPConnection(*serving.server_address, timeout=30)
        connection.request("GET", "/")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        serving.shutdown()
        thread.join()
    assert answer.status == 500
    assert b"line 3 holds no episode" in body


def test_a_taken_port_is_named(ask, tmp_path):
    with pytest.raises(ConfigError, match=f"port {ask.port} cannot be had"):
        server(tmp_path, ask.port)
    with pytest.raises(ConfigError, match="port 70000 cannot be had"):
        server(tmp_path, 70000)
