// The objects and errors of any SDK, made comparable: what came through the proxy has to equal what came direct.

// llmock's ids differ from one request to the next.
const ID = /^(resp|msg|fc|call|chatcmpl|toolu)[_-][0-9a-f]{24}$/;
// Times, and the HTTP headers with their Date.
const OF_ONE_REQUEST = new Set(['created', 'created_at', 'timestamp', 'headers']);

/** The SDK's objects as plain values: ids are numbered in the order in which they first appear, times left out. */
export function comparable(answers) {
  const ids = new Map();
  const plain = (key, value) => {
    if (OF_ONE_REQUEST.has(key)) return undefined;
    if (typeof value !== 'string' || !ID.test(value)) return value;
    if (!ids.has(value)) ids.set(value, `id ${ids.size}`);
    return ids.get(value);
  };
  return JSON.parse(JSON.stringify(answers, plain));
}

/** What came, and the error that ended it. */
export async function outcome(stream) {
  const events = [];
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events, error: null };
}

/** An error's type, its words, and what an app would look at: the status and how long to wait. */
export function comparableError(error) {
  const headers = error?.headers ?? error?.responseHeaders;
  const header = (name) => headers?.get?.(name) ?? headers?.[name];
  return {
    type: error?.constructor.name,
    message: error?.message,
    status: error?.status ?? error?.statusCode,
    body: error?.error ?? error?.responseBody,
    retryAfter: header('retry-after'),
    cause: error?.cause?.code,
  };
}
