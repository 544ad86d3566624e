"""Random requests and messages against the server: no fault of ours, every reply as documented."""

import json

import pytest
from fakes.served import Served
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import PATIENCE_S

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
websockets = pytest.importorskip("websockets.sync.client", reason="needs the serve extra")

from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

from rlvr_envs.serving.sessions import RESET_FIELDS  # noqa: E402

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
# A schema cannot say which ids exist, nor that one field excludes another.
MAY_REFUSE = positive_data_acceptance
CODES = {
    *("INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR", "CAPACITY_REACHED"),
    *("FACTORY_ERROR", "SESSION_ERROR"),
}


@pytest.fixture(scope="module")
def served():
    with Served("GuessNumber-v0", "Gcd-v0", "--sessions", "100000") as server:
        yield server
        assert "fault" not in server.log
        assert server.process.poll() is None


@pytest.fixture(scope="module")
def api(served):
    return schemathesis.openapi.from_url(f"{served.url}/openapi.json")


def test_every_reply_is_as_documented(api, served):
    operations = [found.ok() for found in api.get_all_operations()]
    assert len(operations) > 20
    for operation in operations:

        @given(operation.as_strategy())
        @settings(max_examples=15, **QUIET)
        def check(case):
            case.call_and_validate(timeout=PATIENCE_S, excluded_checks=[MAY_REFUSE])

        check()
    refused = [f'rlvr_request_seconds_count{{status="{status}"}}' for status in (404, 422)]
    assert all(served.metric(name) for name in refused)
    assert served.metric('rlvr_request_seconds_count{status="200"}') > 20


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(
    st.sampled_from([*RESET_FIELDS, "text", "metadata", "env_id", "x"]),
    json_values | st.integers(0, 9) | st.sampled_from(["train", "test", "boxed", "rlvr/Gcd-v0"]),
    max_size=3,
)
messages = st.one_of(
    st.text().map(str),
    st.binary(),
    json_values.map(json.dumps),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["reset", "step", "state", "mcp", "ping"]), "data": fields}
    ).map(json.dumps),
)


@given(st.lists(messages, max_size=12))
@settings(max_examples=60, **QUIET)
def test_every_message_has_one_reply_and_the_session_goes_on(served, sent):
    with websockets.connect(served.socket(), compression=None) as socket:
        for message in sent:
            socket.send(message)
            reply = json.loads(socket.recv(timeout=PATIENCE_S))
            assert reply["type"] in ("observation", "state", "mcp", "error")
            if reply["type"] == "error":
                assert reply["data"]["code"] in CODES
                assert reply["data"]["message"]
                assert "its log" not in reply["data"]["message"]
        socket.send(json.dumps({"type": "reset", "data": {"seed": 1}}))
        assert json.loads(socket.recv(timeout=PATIENCE_S))["type"] == "observation"
