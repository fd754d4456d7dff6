"""Starlette under uvicorn in front of the emitter, with and without GZipMiddleware.

    python starlette_app.py upstream=PORT name=PORT …
"""

import asyncio
import sys

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.responses import StreamingResponse
from starlette.routing import Route

ports = dict(word.split("=") for word in sys.argv[1:])
KEEP = ("content-type", "cache-control", "x-request-id")
limits = httpx.Limits(max_connections=None, keepalive_expiry=2)
client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports['upstream']}", timeout=60, limits=limits)


async def pass_on(request):
    headers = {name: value for name, value in request.headers.items() if name in ("content-type", "x-request-id")}
    onward = client.build_request("POST", request.url.path, content=await request.body(), headers=headers)
    answer = await client.send(onward, stream=True)

    async def body():
        try:
            async for data in answer.aiter_raw():
                yield data
        finally:
            await answer.aclose()

    return StreamingResponse(body(), answer.status_code, {k: v for k, v in answer.headers.items() if k in KEEP})


def app(*middleware) -> Starlette:
    return Starlette(routes=[Route("/{path:path}", pass_on, methods=["POST"])], middleware=list(middleware))


APPS = {
    "starlette_plain": app(),
    # Event streams are on its list of what it leaves alone; NDJSON is not.
    "starlette_gzip_sse": app(Middleware(GZipMiddleware)),
    "starlette_gzip_ndjson": app(Middleware(GZipMiddleware)),
    "starlette_gzip_excluded": app(
        Middleware(GZipMiddleware, exclude_content_types=(*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/x-ndjson"))
    ),
}


async def main():
    servers = []
    for name, served in APPS.items():
        config = uvicorn.Config(served, "127.0.0.1", int(ports[name]), log_level="warning", access_log=False)
        servers.append(uvicorn.Server(config).serve())
    await asyncio.gather(*servers)


asyncio.run(main())
