import type { Writable } from 'node:stream';
import { createLineSplitter } from './splitter.ts';
import { asObject, isJsonObject, parseJson } from '../../../text/json.ts';

export type RequestId = string | number;
export type Fields = Readonly<Record<string, unknown>>;
export type Noise = 'not-json' | 'unknown-answer' | 'second-answer' | 'bad-line' | 'too-long';

/** Gets everything that the program sends besides answers. */
interface Listener {
  /** `params` is undefined if the line was too long to read. */
  request(id: RequestId, method: string, params: Fields | undefined): void;
  notice(method: string, params: Fields): void;
  noise(what: Noise, line: string): void;
}

/** An error that the program answered with. */
export class RpcError extends Error {
  readonly code: unknown;
  readonly data: unknown;
  constructor({ code, message, data }: Fields) {
    super(typeof message === 'string' ? message : 'an error without a message');
    this.code = code;
    this.data = data;
  }
}

const MOST_LINE_BYTES = 4 * 1024 * 1024;
const MOST_ID = 256;

/** JSON-RPC 2.0, one object a line, with a program that may send anything. */
export class Rpc {
  readonly #lines = createLineSplitter(MOST_LINE_BYTES, 1024);
  readonly #waiting = new Map<unknown, PromiseWithResolvers<Fields>>();
  readonly #output: Writable;
  readonly #listener: Listener;
  #last = 0;
  #broken: Error | undefined;

  constructor(output: Writable, listener: Listener) {
    this.#output = output;
    this.#listener = listener;
  }

  read(chunk: Buffer): void {
    for (const { type, text } of this.#lines.push(chunk)) {
      const value = type === 'cut' ? undefined : parseJson(text);
      if (type === 'cut') this.#takeHead(text);
      else if (isJsonObject(value)) this.#take(value);
      else if (text.trim() !== '') this.#listener.noise(value === undefined ? 'not-json' : 'bad-line', text);
    }
  }

  async request(method: string, params: object): Promise<Fields> {
    if (this.#broken !== undefined) throw this.#broken;
    this.#last += 1;
    const answer = Promise.withResolvers<Fields>();
    this.#waiting.set(this.#last, answer);
    this.#send({ id: this.#last, method, params });
    return answer.promise;
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  answer(id: RequestId, result: object): void {
    this.#send({ id, result });
  }

  decline(id: RequestId, code: number, message: string): void {
    this.#send({ id, error: { code, message } });
  }

  /** Fails what waits for an answer, and all that is asked from now on. */
  fail(error: Error): void {
    this.#broken ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #send(message: object): void {
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #take(message: Fields): void {
    const { id, method, params, error, result } = message;
    if (typeof method === 'string') {
      const given = asObject(params);
      if (isId(id)) this.#listener.request(id, method, given);
      else if ('id' in message) this.#listener.noise('bad-line', '');
      else this.#listener.notice(method, given);
      return;
    }
    const asked = this.#waiting.get(id);
    const wasAsked = typeof id === 'number' && id > 0 && id <= this.#last;
    if (asked === undefined) this.#listener.noise(wasAsked ? 'second-answer' : 'unknown-answer', '');
    else if (isJsonObject(error)) asked.reject(new RpcError(error));
    else asked.resolve(asObject(result));
    this.#waiting.delete(id);
  }

  /** Says no to a request, and fails a question of ours, whose line is too long. */
  #takeHead(text: string): void {
    this.#listener.noise('too-long', '');
    // Whatever stands before the first object in it.
    const [head = ''] = text.slice(text.indexOf('{') + 1).split('{', 1);
    const method = /"method"\s*:\s*"([^"\\]{1,128})"/.exec(head)?.[1];
    const id = parseJson(/"id"\s*:\s*(-?\d{1,15}|"(?:[^"\\]|\\.){0,256}")/.exec(head)?.[1] ?? '');
    if (method === undefined) this.#take({ id, error: { message: `an answer of more than ${MOST_LINE_BYTES} bytes` } });
    else if (isId(id)) this.#listener.request(id, method, undefined);
  }
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= MOST_ID : typeof id === 'number';
}
