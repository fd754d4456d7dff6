"""A threaded Python server in front of the emitter that writes through a buffered file: 8192 bytes go at a time.

`wbufsize` is socketserver's own setting for this. The cured twin flushes after each piece it passes on.

    python unflushed.py upstream=PORT name=PORT …
"""

import http.client
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ports = dict(word.split("=") for word in sys.argv[1:])


class Unflushed(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 8192
    flush_each = False

    def do_POST(self):
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        onward = http.client.HTTPConnection("127.0.0.1", int(ports["upstream"]))
        onward.request("POST", self.path, self.rfile.read(int(self.headers["content-length"])))
        answer = onward.getresponse()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("content-type"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while data := answer.read1(65536):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            if self.flush_each:
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        onward.close()

    def log_message(self, *_):
        pass


class Flushed(Unflushed):
    flush_each = True


class Server(ThreadingHTTPServer):
    request_queue_size = 128


for name, handler in {"python_unflushed": Unflushed, "python_flushed": Flushed}.items():
    threading.Thread(target=Server(("127.0.0.1", int(ports[name])), handler).serve_forever).start()
