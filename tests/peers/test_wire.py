"""What goes over the wire, compared byte by byte with a direct run: the SDK's own requests, and answers read with `http.client`."""

import http.client
import json
import time

import pytest
import xxhash
from streams import chat, client, stream_chat
from support import API_KEY


def ask(url: str, model: str, version: int = 11) -> tuple[http.client.HTTPResponse, bytes, float]:
    """One streamed chat by the standard library alone. Returns the answer's head, its body,
    and the seconds from the body's first byte to its last."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    connection._http_vsn = version
    connection._http_vsn_str = {10: "HTTP/1.0", 11: "HTTP/1.1"}[version]
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {API_KEY}"}
    connection.request("POST", "/v1/chat/completions?trace=1", json.dumps(chat(model)), headers)
    answer = connection.getresponse()
    body = answer.read1(65536)
    began = ended = time.monotonic()
    while piece := answer.read1(65536):
        body += piece
        ended = time.monotonic()
    connection.close()
    return answer, body, ended - began


def text_of(body: bytes) -> str:
    events = [e.removeprefix("data: ") for e in body.decode().split("\n\n") if e]
    deltas = [json.loads(e)["choices"][0]["delta"] for e in events if e != "[DONE]"]
    return "".join(d.get("content") or "" for d in deltas)


def field_list(head: bytes) -> list[tuple[str, str]]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines if line)]


def test_the_sdks_request_arrives_as_it_was_sent(start, model):
    keeper = start.keeper()
    stream_chat(client(keeper.url), model)
    proxy = start.proxy(keeper.url)
    stream_chat(client(proxy.url), model)

    (direct_head, direct_body), (head, body) = keeper.requests
    assert body == direct_body
    assert head.split(b"\r\n")[0] == direct_head.split(b"\r\n")[0]
    # `Connection` belongs to one hop; all the rest, `Host` (set to the upstream's) included, is the same.
    end_to_end = [f for f in field_list(direct_head) if f[0] != "connection"]
    assert sorted(f for f in field_list(head) if f[0] != "connection") == sorted(end_to_end)
    assert ("authorization", f"Bearer {API_KEY}") in end_to_end
    record = proxy.finish_with_one()
    assert record["request"]["bytes"] == len(body)
    assert record["request"]["accept_encoding"] == dict(end_to_end)["accept-encoding"]


def test_the_servers_answer_arrives_as_it_was_sent(start, model):
    keeper = start.keeper()
    direct, direct_body, _ = ask(keeper.url, model)
    proxy = start.proxy(keeper.url)
    answer, body, _ = ask(proxy.url, model)

    assert body == direct_body == keeper.BODY
    assert (answer.status, answer.reason) == (direct.status, direct.reason)
    # The proxy stamps its own Date, as the README says; the rest is of one hop.
    of_one_hop = {"date", "connection", "transfer-encoding", "keep-alive"}
    expected = sorted((n.lower(), v) for n, v in direct.getheaders() if n.lower() not in of_one_hop)
    assert sorted((n.lower(), v) for n, v in answer.getheaders() if n.lower() not in of_one_hop) == expected
    record = proxy.finish_with_one()
    assert record["response"]["framing"] == "close"
    assert record["response"]["request_id"] == "req_1"
    assert record["response"]["server"] == "Keeper/1.0"


@pytest.mark.parametrize("version", [10, 11])
def test_a_plain_client_gets_the_stream_as_it_is_made(llmock, start, model, version):
    direct, direct_body, direct_span = ask(llmock.url, model, version)
    proxy = start.proxy(llmock.url)
    answer, body, span = ask(proxy.url, model, version)

    assert text_of(body) == text_of(direct_body) != ""
    assert span >= direct_span / 2, "the stream was held back"
    assert body.endswith(b"data: [DONE]\n\n")
    assert answer.headers["content-type"] == direct.headers["content-type"]
    assert ("transfer-encoding" in answer.headers) == (version == 11)

    record = proxy.finish_with_one()
    assert record["end"] == "complete"
    assert record["request"]["http"] == {10: "1.0", 11: "1.1"}[version]
    assert record["request"]["path"] == "/v1/chat/completions", "without its query"
    assert record["response"]["framing"] == "chunked", "as the upstream sent it"
    assert record["counts"]["bytes"] == len(body)
    assert record["response"]["body_hash"] == xxhash.xxh3_128_hexdigest(body)


def test_several_requests_on_one_connection_share_an_upstream_connection(llmock, start, model):
    proxy = start.proxy(llmock.url, "--record", "all")
    connection = http.client.HTTPConnection(proxy.url.removeprefix("http://"), timeout=30)
    for _ in range(3):
        connection.request("GET", "/v1/models")
        assert json.loads(connection.getresponse().read())["object"] == "list"
    connection.close()
    assert [r["upstream"]["reused"] for r in proxy.finish()] == [False, True, True]
