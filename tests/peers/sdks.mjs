// The SDKs for Node as the tests use them: one entry for each way to ask, all with the same few words.
//
// `stream` yields the SDK's own objects in their order (a stream helper's final answer comes last), `whole` the one object of
// a reply that is not streamed. `texts`, `toolPieces`, `id` and `usage` read from these what the record has to agree with.

import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, streamText, tool } from 'ai';

import { API_KEY, SECRET_WORD, client } from './support.mjs';

// llmock answers "Hello! You said: " and the prompt, a word per event.
const PROMPT = `${SECRET_WORD} größer 音楽 a b c d e f g`;
export const TEXT = `Hello! You said: ${PROMPT}`;

const WEATHER = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const MESSAGES = [{ role: 'user', content: PROMPT }];

const CHAT = { api: 'chat', path: '/v1/chat/completions', keepalives: 0 };
const RESPONSES = { api: 'responses', path: '/v1/responses', keepalives: 0 };
const MESSAGES_API = { api: 'messages', path: '/anthropic/v1/messages', keepalives: 1 };

// --- openai -------------------------------------------------------------------------------------------

const openaiChat = {
  ...CHAT,
  asked: (model, tools) => ({
    model,
    messages: MESSAGES,
    tools: tools ? [{ type: 'function', function: { name: 'get_weather', parameters: WEATHER } }] : undefined,
  }),
  async *stream(url, model, { tools, headers } = {}) {
    const asked = { ...this.asked(model, tools), stream: true, stream_options: { include_usage: true } };
    yield* await client(url).chat.completions.create(asked, { headers });
  },
  whole(url, model) { return client(url).chat.completions.create(this.asked(model)); },
  texts: (events) => events.flatMap((e) => e.choices).map((c) => c.delta.content).filter(Boolean),
  toolPieces: (events) => events.flatMap((e) => e.choices).flatMap((c) => c.delta.tool_calls ?? [])
    .map((call) => (call.function.name ?? '') + (call.function.arguments ?? '')),
  id: ([first]) => first.id,
  usage: (events) => [events.at(-1).usage.prompt_tokens, events.at(-1).usage.completion_tokens],
  wholeUsage: ({ usage }) => [usage.prompt_tokens, usage.completion_tokens],
};

const openaiResponses = {
  ...RESPONSES,
  asked: (model, tools) => ({
    model,
    input: PROMPT,
    tools: tools ? [{ type: 'function', name: 'get_weather', parameters: WEATHER, strict: false }] : undefined,
  }),
  async *stream(url, model, { tools, headers } = {}) {
    yield* await client(url).responses.create({ ...this.asked(model, tools), stream: true }, { headers });
  },
  whole(url, model) { return client(url).responses.create(this.asked(model)); },
  texts: (events) => events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta),
  toolPieces: (events) => events.filter((e) => e.type === 'response.function_call_arguments.delta').map((e) => e.delta),
  id: ([first]) => first.response.id,
  usage: (events) => openaiResponses.wholeUsage(events.find((e) => e.type === 'response.completed').response),
  wholeUsage: ({ usage }) => [usage.input_tokens, usage.output_tokens],
};

const openaiResponsesHelper = {
  ...openaiResponses,
  async *stream(url, model, { tools, headers } = {}) {
    const stream = client(url).responses.stream(this.asked(model, tools), { headers });
    yield* stream;
    yield { type: 'final', answer: await stream.finalResponse() };
  },
};

// --- @anthropic-ai/sdk --------------------------------------------------------------------------------

const anthropic = (url) => new Anthropic({ baseURL: `${url}/anthropic`, apiKey: API_KEY, maxRetries: 0 });

const anthropicMessages = {
  ...MESSAGES_API,
  asked: (model, tools) => ({
    model,
    max_tokens: 1000,
    messages: MESSAGES,
    tools: tools ? [{ name: 'get_weather', input_schema: WEATHER }] : undefined,
  }),
  async *stream(url, model, { tools, headers } = {}) {
    yield* await anthropic(url).messages.create({ ...this.asked(model, tools), stream: true }, { headers });
  },
  whole(url, model) { return anthropic(url).messages.create(this.asked(model)); },
  texts: (events) => events.map((e) => e.delta?.text).filter(Boolean),
  toolPieces: (events) => events.map((e) => e.delta?.partial_json).filter(Boolean),
  id: ([first]) => first.message.id,
  usage: (events) => [
    events[0].message.usage.input_tokens,
    events.find((e) => e.type === 'message_delta').usage.output_tokens,
  ],
  wholeUsage: ({ usage }) => [usage.input_tokens, usage.output_tokens],
};

const anthropicHelper = {
  ...anthropicMessages,
  async *stream(url, model, { tools, headers } = {}) {
    const stream = anthropic(url).messages.stream(this.asked(model, tools), { headers });
    yield* stream;
    yield { type: 'final', answer: await stream.finalMessage() };
  },
};

// --- ai (Vercel) --------------------------------------------------------------------------------------

const getWeather = tool({ inputSchema: jsonSchema(WEATHER) });

/** The `ai` package with `provider`; its parts hide the events of the wire. */
const ai = (of, provider) => ({
  ...of,
  asked: (url, model, { tools, headers } = {}) => ({
    model: provider(url)(model),
    prompt: PROMPT,
    tools: tools ? { get_weather: getWeather } : undefined,
    headers,
    maxOutputTokens: 1000,
    maxRetries: 0,
  }),
  async *stream(url, model, options) {
    for await (const part of streamText({ ...this.asked(url, model, options), onError() {} }).fullStream) {
      if (part.type === 'error') throw part.error;
      yield part;
    }
  },
  async whole(url, model) {
    const { text, finishReason, usage, toolCalls, response } = await generateText(this.asked(url, model));
    return { text, finishReason, usage, toolCalls, id: response.id, model: response.modelId };
  },
  texts: (parts) => parts.filter((p) => p.type === 'text-delta').map((p) => p.text),
  toolPieces: (parts) => parts.filter((p) => p.type === 'tool-input-delta').map((p) => p.delta),
  id: (parts) => parts.find((p) => p.type === 'finish-step').response.id,
  usage: (parts) => tokens(parts.find((p) => p.type === 'finish').totalUsage),
  wholeUsage: ({ usage }) => tokens(usage),
});

const tokens = ({ inputTokens, outputTokens }) => [inputTokens, outputTokens];

export const SDKS = {
  'openai chat': openaiChat,
  'openai responses': openaiResponses,
  'openai responses helper': openaiResponsesHelper,
  'anthropic messages': anthropicMessages,
  'anthropic messages helper': anthropicHelper,
  'ai + openai': ai(RESPONSES, (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: API_KEY })),
  'ai + openai-compatible': ai(CHAT, (url) =>
    createOpenAICompatible({ name: 'llmock', baseURL: `${url}/v1`, apiKey: API_KEY, includeUsage: true })),
  'ai + anthropic': ai(MESSAGES_API, (url) => createAnthropic({ baseURL: `${url}/anthropic/v1`, apiKey: API_KEY })),
};
