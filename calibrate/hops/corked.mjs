// Node with corked writes: what is written is kept until `uncork`, which a timer or a count of events calls.
import http from "node:http";
import { copyHead, passOn, ports, wholeBody } from "./relay.mjs";

/** Uncorks `ms` after the first write that it keeps. */
function byTimer(response, { ms }) {
    let timer = null;
    return (event) => {
        if (timer === null) {
            response.cork();
            timer = setTimeout(() => {
                timer = null;
                response.uncork();
            }, ms);
        }
        response.write(event);
    };
}

/** Uncorks at each n-th event. */
function byCount(response, { n }) {
    let kept = 0;
    return (event) => {
        if (kept === 0) response.cork();
        response.write(event);
        if (++kept === n) {
            kept = 0;
            response.uncork();
        }
    };
}

const atOnce = (response) => (event) => response.write(event);

function serve(name, keeper) {
    const server = http.createServer(async (request, response) => {
        const body = await wholeBody(request);
        const settings = JSON.parse(body).calibrate.hop;
        passOn(request, body, (answer) => {
            copyHead(answer, response);
            response.flushHeaders();
            const write = keeper(response, settings);
            let rest = "";
            answer.setEncoding("utf8");
            answer.on("data", (text) => {
                const events = (rest + text).split("\n\n");
                rest = events.pop();
                for (const event of events) write(event + "\n\n");
            });
            answer.on("end", () => response.end(rest));
        });
    });
    server.listen(ports[name], "127.0.0.1");
}

serve("node_cork_timer", byTimer);
serve("node_cork_count", byCount);
serve("node_uncorked", atOnce);
