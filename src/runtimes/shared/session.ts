import { isAbsolute } from 'node:path';
import { sha256Of } from '../../model/sha256.ts';
import { writableFolders } from '../../model/access.ts';
import type { Failure } from '../../model/failure.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { refuse, refuseAny, type Refusal } from './cli-adapter.ts';

/** Identifies the instructions that a session was opened with. */
export function instructionsHash(text: string): string {
  return sha256Of(text).slice(0, 32);
}

/**
 * Why a runtime cannot resume the request's session: it belongs to another runtime, or the instructions changed, which
 * claude and codex ignore after the first turn. undefined: it can, or there is no session.
 */
export function sessionRefusal(runtime: string, request: TurnRequest): Failure | undefined {
  const { session } = request;
  if (session === undefined) return undefined;
  if (session.runtime !== runtime) {
    const message = `session ${session.id} belongs to ${session.runtime}; ${runtime} cannot resume it`;
    return refuse('setting-unsupported', 'session', message).failure;
  }
  if (session.instructionsHash !== instructionsHash(request.instructions)) {
    const message = `${runtime} keeps the instructions of a session's first turn; other instructions need a new session`;
    return refuse('instructions-changed', 'instructions', message).failure;
  }
  return undefined;
}

/** Parts of a request that some runtimes cannot honour. */
const EQUIPMENT = ['skills', 'hooks', 'environment', 'home', 'ask'] as const;
type Equipment = (typeof EQUIPMENT)[number];

/**
 * Beyond `sessionRefusal`, refuses a session id of another form (programs would start a new session), writable folders that are not
 * absolute (`:root` is the disk to codex), MCP servers of one name, and equipment not in `honoured`.
 */
export function requestRefusal(
  runtime: string,
  request: TurnRequest,
  sessionId: RegExp,
  honoured: readonly Equipment[] = [],
): Refusal | undefined {
  const { session, access, mcp } = request;
  const failure = sessionRefusal(runtime, request);
  if (failure !== undefined) return { type: 'refusal', failure };
  if (session !== undefined && !sessionId.test(session.id)) {
    const message = `${JSON.stringify(session.id)} is not the id of a session of ${runtime}`;
    return refuse('session-not-found', 'session', message);
  }
  if (!writableFolders(access).every((path) => isAbsolute(path))) {
    return refuse('setting-unsupported', 'access.writable', 'writable folders must be absolute paths');
  }
  if (new Set(mcp.map(({ name }) => name)).size < mcp.length) {
    return refuse('setting-unsupported', 'mcp', 'two servers have one name');
  }
  const unknown = EQUIPMENT.find((setting) => request[setting] !== undefined && !honoured.includes(setting));
  return unknown && refuse('setting-unsupported', unknown, `${runtime} cannot honour ${unknown}`);
}

/** `requestRefusal` for a program with sessions named by UUIDs, which must be there; then the program's own checks. */
export function turnRefusal(
  runtime: string,
  request: TurnRequest,
  { binary }: { readonly binary: string | undefined },
  own: Parameters<typeof refuseAny>[0] = [],
  honoured: readonly Equipment[] = [],
): Refusal | undefined {
  if (binary !== undefined) return requestRefusal(runtime, request, UUID, honoured) ?? refuseAny(own);
  return refuse('cli-missing', `runtimes.${runtime}.command`, `${runtime} was not found; install it or name its path`);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A session id that squad chooses, so that a turn that dies before its first line can be resumed. */
export function chosenSessionId(runtime: string, turnId: string): string {
  const hex = sha256Of(`${runtime} session of ${turnId}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
