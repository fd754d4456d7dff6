"""A collector: it takes log records by OTLP (http/protobuf), and puts them into rows as the Collector's exporter for ClickHouse does."""

import base64
import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse

TABLE = "ServiceName String, EventName String, Body String, LogAttributes Map(String, String)"


class Collector:
    def __init__(self):
        self.rows = rows = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
                is_taken = self.path == "/v1/logs" and self.headers["Content-Type"] == "application/x-protobuf"
                if is_taken:
                    rows.extend(rows_of(ExportLogsServiceRequest.FromString(body)))
                answer = ExportLogsServiceResponse().SerializeToString()
                self.send_response(200 if is_taken else 404)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                del arguments  # a test's output has enough

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def rows_of(message):
    for resource in message.resource_logs:
        [service] = [one.value.string_value for one in resource.resource.attributes if one.key == "service.name"]
        for scope in resource.scope_logs:
            for log in scope.log_records:
                attributes = {one.key: exported(plain(one.value)) for one in log.attributes}
                yield {"ServiceName": service, "EventName": log.event_name, "Body": exported(plain(log.body)), "LogAttributes": attributes}


def plain(value):
    """An `AnyValue` as Python has it."""
    kind = value.WhichOneof("value")
    if kind == "kvlist_value":
        return {one.key: plain(one.value) for one in value.kvlist_value.values}
    if kind == "array_value":
        return [plain(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None


def exported(value) -> str:
    """An attribute as the Collector makes it text: none is empty, objects and lists are JSON, as Go writes it."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value if isinstance(value, str) else json.dumps(as_go(value), sort_keys=True, separators=(",", ":"))


def as_go(value):
    """Go writes a number that is whole without its point."""
    if isinstance(value, dict):
        return {key: as_go(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_go(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
