import type { Writable } from 'node:stream';
import { createLineSplitter } from '../../../substrate/process/splitter.ts';
import { isJsonObject, parseJson } from '../../../text/json.ts';

export type RequestId = string | number;
export type Fields = Readonly<Record<string, unknown>>;
export type Noise = 'not-json' | 'unknown-answer' | 'second-answer' | 'other-session' | 'bad-line' | 'too-long';

/** What the agent sends besides answers. */
interface Listener {
  /** `params` is undefined if the line was too long to read. */
  request(id: RequestId, method: string, params: Fields | undefined): void;
  notice(method: string, params: Fields): void;
  noise(what: Noise, line: string): void;
}

/** An error that the agent answered with. */
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

export type Rpc = ReturnType<typeof createRpc>;

/** JSON-RPC 2.0, one object a line, with an agent that may send anything. */
export function createRpc(output: Writable, listener: Listener) {
  const lines = createLineSplitter(MOST_LINE_BYTES, 1024);
  const waiting = new Map<number, PromiseWithResolvers<Fields>>();
  let last = 0;
  let broken: Error | undefined;
  const send = (message: object): unknown => output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

  function take(message: Fields): void {
    const { id, method, params } = message;
    if (typeof method === 'string') {
      if (isId(id)) listener.request(id, method, isJsonObject(params) ? params : {});
      else if (!('id' in message)) listener.notice(method, isJsonObject(params) ? params : {});
      else listener.noise('bad-line', '');
      return;
    }
    const asked = typeof id === 'number' ? waiting.get(id) : undefined;
    if (asked === undefined) {
      listener.noise(typeof id === 'number' && id > 0 && id <= last ? 'second-answer' : 'unknown-answer', '');
      return;
    }
    waiting.delete(Number(id));
    if (isJsonObject(message['error'])) asked.reject(new RpcError(message['error']));
    else asked.resolve(isJsonObject(message['result']) ? message['result'] : {});
  }

  /** Says no to a request, and fails a question of the host, whose line nothing can hold. */
  function takeHead(text: string): void {
    listener.noise('too-long', '');
    const { id, method } = headOf(text);
    if (!isId(id)) return;
    if (method !== undefined) listener.request(id, method, undefined);
    else take({ id, error: { message: `an answer of more than ${MOST_LINE_BYTES} bytes` } });
  }

  return {
    read(chunk: Buffer): void {
      for (const line of lines.push(chunk)) {
        const value = line.type === 'cut' ? undefined : parseJson(line.text);
        if (line.type === 'cut') takeHead(line.text);
        else if (isJsonObject(value)) take(value);
        else if (line.text.trim() !== '') listener.noise(value === undefined ? 'not-json' : 'bad-line', line.text);
      }
    },
    async request(method: string, params: object): Promise<Fields> {
      if (broken !== undefined) throw broken;
      last += 1;
      const answer = Promise.withResolvers<Fields>();
      waiting.set(last, answer);
      send({ id: last, method, params });
      return answer.promise;
    },
    notify: (method: string, params: object) => send({ method, params }),
    answer: (id: RequestId, result: object) => send({ id, result }),
    decline: (id: RequestId, code: number, message: string) => send({ id, error: { code, message } }),
    /** Fails what waits for an answer, and all that is asked from now on. */
    fail(error: Error): void {
      broken ??= error;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
  };
}

/** Whatever stands before the first object in the line. */
function headOf(text: string): { readonly id: unknown; readonly method: string | undefined } {
  const [head = ''] = text.slice(text.indexOf('{') + 1).split('{', 1);
  const id = /"id"\s*:\s*(-?\d{1,15}|"(?:[^"\\]|\\.){0,256}")/.exec(head)?.[1] ?? '';
  return { id: parseJson(id), method: /"method"\s*:\s*"([^"\\]{1,128})"/.exec(head)?.[1] };
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= MOST_ID : typeof id === 'number';
}
