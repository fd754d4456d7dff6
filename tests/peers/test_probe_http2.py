"""`dripline probe --http 2` and Debian's nginx, which agree on it in the TLS handshake."""

import datetime
import json
import subprocess

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from streams import PROMPT
from support import dripline_binary


@pytest.fixture
def certificate(tmp_path):
    """Files of a certificate for localhost that vouches for itself, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem, pkcs8, plain = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(pem, pkcs8, plain))
    return files


def probe(nginx, certificate, model, http) -> list[dict]:
    url = f"https://localhost:{nginx.port}"
    command = [dripline_binary(), "probe", url, PROMPT, "--model", model, "--ca", certificate[0], "--http", http]
    done = subprocess.run([*command, "--runs", "3", "--json"], capture_output=True, text=True, timeout=120)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows and (done.returncode == 0) == all(row["record"]["end"] == "complete" for row in rows)
    return [row["record"] for row in rows]


def tls(certificate) -> str:
    return f"proxy_http_version 1.1; }} ssl_certificate {certificate[0]}; ssl_certificate_key {certificate[1]}; location /none {{"


def test_a_stream_over_http_2_is_measured_as_one_over_http_1(llmock, start, model, certificate):
    nginx = start.nginx(llmock.url, tls(certificate), "ssl http2")
    told = {}
    for http in ("2", "1.1"):
        records = probe(nginx, certificate, model, http)
        assert len(records) == 4
        for record in records:
            assert record["end"] == "complete"
            assert record["upstream"]["http"] == record["request"]["http"] == http
            assert record["upstream"]["tls"] is True and record["upstream"]["tls_ms"] > 0
            assert record["response"]["framing"] == {"2": "h2", "1.1": "chunked"}[http]
            assert record["verdict"]["timing"] == "steady"
        told[http] = {(r["counts"]["token_events"], r["counts"]["chars"]) for r in records}
    assert told["2"] == told["1.1"]


def test_a_server_that_does_not_speak_it_is_told(llmock, start, model, certificate):
    nginx = start.nginx(llmock.url, tls(certificate), "ssl")
    for record in probe(nginx, certificate, model, "2"):
        assert record["error"]["kind"] == "tls"
