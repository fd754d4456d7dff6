// Express in front of the emitter: as it is, with `compression`, and with `compression` and a flush after each write.
import compression from "compression";
import express from "express";
import { copyHead, passOn, ports, wholeBody } from "./relay.mjs";

function serve(name, flush, ...middleware) {
    const app = express();
    app.disable("x-powered-by");
    for (const part of middleware) app.use(part);
    app.use(async (request, response) => {
        const body = await wholeBody(request);
        passOn(request, body, (answer) => {
            copyHead(answer, response);
            answer.on("data", (data) => {
                response.write(data);
                if (flush) response.flush(); // what the documentation of `compression` asks for with server-sent events
            });
            answer.on("end", () => response.end());
        });
    });
    app.listen(ports[name], "127.0.0.1");
}

serve("express_plain", false);
serve("express_compression", false, compression());
serve("express_compression_flush", true, compression());
serve("express_compression_filter", false, compression({ filter: (_, response) => !/event-stream/.test(response.getHeader("content-type")) }));
