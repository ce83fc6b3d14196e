import { errorText } from '../../model/errors.ts';
import { Rpc, type Fields, type RequestId } from '../../substrate/system/process/json-rpc.ts';
import { asObject, isJsonObject, parseJson } from '../../text/json.ts';
import { NO_TOOL, type Caller, type ServedTools, type Wire } from './wire.ts';

/** The revisions of the protocol that begin with `initialize`, the newest first. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

const REVISION_OF_REQUEST = 'io.modelcontextprotocol/protocolVersion';
const NEWLINE = 10;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

/** Whether the first message is of a revision that needs more than this server: each request names it, or it asks what there is. */
export function isNewer(line: string): boolean {
  const { method, params } = asObject(parseJson(line));
  return method === 'server/discover' || Object.hasOwn(asObject(asObject(params)['_meta']), REVISION_OF_REQUEST);
}

/** Serves the revisions that begin with `initialize`; the returned function takes what comes in. */
export function servePlain(tools: ServedTools, version: string, wire: Wire): (chunk: Buffer) => void {
  const { output, mostLineBytes, end, report } = wire;
  /** Calls that are not answered yet. */
  const open = new Map<unknown, AbortController>();
  const rpc = new Rpc(output, {
    request: (id, method, params = {}) => {
      try {
        answer(rpc, { id, method, params }, { tools, version, open });
      } catch (error) {
        rpc.decline(id, INTERNAL_ERROR, errorText(error));
      }
    },
    notice: (method, { requestId }) => {
      if (method === 'notifications/cancelled') open.get(requestId)?.abort();
    },
    noise: (what, line) => {
      if (what === 'bad-line') report(new Error(`a message that is none of the protocol: ${line.slice(0, 200)}`));
    },
  });
  /** Bytes of the line that has not ended. */
  let length = 0;
  return (chunk) => {
    const last = chunk.lastIndexOf(NEWLINE);
    const first = chunk.indexOf(NEWLINE);
    const longest = length + (first === -1 ? chunk.length : first);
    length = last === -1 ? longest : chunk.length - last - 1;
    if (longest > mostLineBytes) {
      report(new Error(`a line of more than ${mostLineBytes} bytes`));
      process.exitCode = 1;
      end();
    } else rpc.read(chunk);
  };
}

interface Served {
  readonly tools: ServedTools;
  readonly version: string;
  readonly open: Map<unknown, AbortController>;
}

function answer(
  rpc: Rpc,
  { id, method, params }: { readonly id: RequestId; readonly method: string; readonly params: Fields },
  { tools, version, open }: Served,
): void {
  switch (method) {
    case 'initialize': {
      const { protocolVersion: asked } = params;
      const protocolVersion = REVISIONS.find((revision) => revision === asked) ?? REVISIONS[0];
      const serverInfo = { name: 'squad', version };
      rpc.answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: tools.instructions });
      return;
    }
    case 'ping':
      rpc.answer(id, {});
      return;
    case 'tools/list':
      rpc.answer(id, { tools: tools.list() });
      return;
    case 'tools/call': {
      const { name, arguments: given } = params;
      const isCall = typeof name === 'string' && (given === undefined || isJsonObject(given));
      const abort = new AbortController();
      const caller = { signal: abort.signal, ...progressTo(rpc, params) };
      const result = isCall ? tools.call(id, name, given, caller) : undefined;
      if (result instanceof Promise) void answerLater(rpc, id, { result, abort, open });
      else if (result !== undefined) rpc.answer(id, result);
      else rpc.decline(id, INVALID_PARAMS, isCall ? NO_TOOL : '`name` must be a text, and `arguments` an object');
      return;
    }
    default:
      rpc.decline(id, METHOD_NOT_FOUND, 'Method not found');
  }
}

async function answerLater(
  rpc: Rpc,
  id: RequestId,
  { result, abort, open }: { result: Promise<object>; abort: AbortController } & Pick<Served, 'open'>,
): Promise<void> {
  open.set(id, abort);
  try {
    const found = await result;
    // The protocol wants no answer to a request that was taken back.
    if (!abort.signal.aborted) rpc.answer(id, found);
  } catch (error) {
    if (!abort.signal.aborted) rpc.decline(id, INTERNAL_ERROR, errorText(error));
  } finally {
    open.delete(id);
  }
}

function progressTo(rpc: Rpc, params: Fields): Pick<Caller, 'progress'> {
  const { progressToken } = asObject(params['_meta']);
  if (progressToken === undefined) return {};
  return {
    progress: (progress, total, message) =>
      rpc.notify('notifications/progress', { progressToken, progress, total, message }),
  };
}
