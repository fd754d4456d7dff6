// What the hops in Node share: the arguments `upstream=PORT name=PORT …`, and a request passed on to the emitter.
import http from "node:http";

export const ports = Object.fromEntries(process.argv.slice(2).map((word) => word.split("=")));

const agent = new http.Agent({ keepAlive: true });
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "content-length"];

/** Sends the request on; `answer` is called with the emitter's response once its header is there. */
export function passOn(request, body, answer) {
    const onward = http.request({
        agent,
        host: "127.0.0.1",
        port: ports.upstream,
        method: request.method,
        path: request.url,
        headers: { ...request.headers, connection: "keep-alive", "content-length": body.length },
    });
    onward.on("response", answer);
    onward.on("error", () => request.destroy());
    onward.end(body);
}

export async function wholeBody(request) {
    const parts = [];
    for await (const part of request) parts.push(part);
    return Buffer.concat(parts);
}

export function copyHead(from, to) {
    for (const [name, value] of Object.entries(from.headers)) {
        if (!HOP_BY_HOP.includes(name)) to.setHeader(name, value);
    }
    to.statusCode = from.statusCode;
}
