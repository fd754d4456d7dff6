"""Debian's nginx as it comes, in front of dripline and behind it. It speaks HTTP/1.0 to its upstream."""

import httpx
import openai
import pytest
from streams import check_pace, check_whole_chat, client, stream_chat


def test_nginx_in_front(llmock, start, model):
    """client → nginx → dripline → llmock"""
    direct = stream_chat(client(llmock.url), model)
    proxy = start.proxy(llmock.url)
    nginx = start.nginx(proxy.url)
    seen = stream_chat(client(nginx.url), model)

    assert (seen.texts, seen.finish) == (direct.texts, direct.finish)
    record = proxy.finish_with_one()
    check_whole_chat(record, seen, model)
    check_pace(record, seen, direct)
    assert record["request"]["http"] == "1.0"
    assert record["response"]["framing"] == "chunked"


def test_nginx_behind(llmock, start, model):
    """client → dripline → nginx → llmock"""
    direct = stream_chat(client(llmock.url), model)
    nginx = start.nginx(llmock.url)
    proxy = start.proxy(nginx.url)
    seen = stream_chat(client(proxy.url), model)

    assert (seen.texts, seen.finish) == (direct.texts, direct.finish)
    record = proxy.finish_with_one()
    check_whole_chat(record, seen, model)
    check_pace(record, seen, direct)
    assert record["request"]["http"] == "1.1"
    assert record["response"]["server"].startswith("nginx/")


def test_a_client_that_leaves_nginx_leaves_dripline(llmock, start, model):
    llmock.script(model, "reply", text="word " * 400)
    proxy = start.proxy(llmock.url)
    nginx = start.nginx(proxy.url)
    with client(nginx.url) as sdk:
        stream = sdk.chat.completions.create(model=model, messages=[{"role": "user", "content": "hi"}], stream=True)
        next(iter(stream))
        stream.close()

    (record,) = proxy.wait_for_records(1)
    assert record["end"] == "client_gone"
    proxy.finish_with_one()


def test_a_stream_that_nginx_compresses_is_judged_by_its_events(llmock, start, model):
    """nginx's gzip flushes what it has read: the bytes pass as they are, and the decoded copy shows them come one by one."""
    direct = stream_chat(client(llmock.url), model)
    nginx = start.nginx(llmock.url, "gzip_types text/event-stream; gzip_proxied any; proxy_http_version 1.1;")
    proxy = start.proxy(nginx.url)
    seen = stream_chat(client(proxy.url), model)

    assert seen.texts == direct.texts
    record = proxy.finish_with_one()
    assert record["response"]["content_encoding"] == "gzip"
    assert record["counts"]["token_events"] == len(seen.texts)
    assert record["counts"]["chars"] == len(seen.text)
    assert "encoded" in record["flags"]
    check_pace(record, seen, direct)


A_TOOL_IN_THE_MIDDLE = """
steps = [
    { write = "role" },
    { write = "word", times = 20, every = "20ms" },
    { wait = "6s" },
    { write = "word", times = 20, every = "20ms" },
    { each = ["finish", "usage", "done"] },
]
"""


def test_the_idle_limit_of_nginx_is_named_and_following_the_hint_ends_it(start, model):
    server = start.simulated(A_TOOL_IN_THE_MIDDLE)
    limited = start.proxy(start.nginx(server.url, "proxy_buffering off; proxy_read_timeout 5s;").url)
    raised = start.proxy(start.nginx(server.url, "proxy_buffering off; proxy_read_timeout 60s;").url)
    with pytest.raises((openai.APIError, httpx.TransportError)):
        stream_chat(client(limited.url), model)
    stream_chat(client(raised.url), model)

    record = limited.finish_with_one()
    assert record["end"] == "truncated"
    assert (record["verdict"]["cut"]["kind"], record["verdict"]["cut"]["after_ms"]) == ("idle", 5000)
    hints = {finding["code"]: finding["hint"] for finding in record["verdict"]["findings"]}
    assert "proxy_read_timeout" in hints["idle_cut"]
    record = raised.finish_with_one()
    assert (record["end"], record["verdict"]["cut"]) == ("complete", None)
