import { createHash } from 'node:crypto';
import type { Failure } from '../../model/failure.ts';
import type { TurnRequest } from '../../model/turn-request.ts';

/** Names the instructions a session was opened with. */
export function instructionsHash(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 32);
}

/**
 * What no runtime may be asked of a session: to belong to another runtime, or to change its instructions, which claude
 * and codex silently ignore after the first turn.
 */
export function sessionRefusal(runtime: string, request: TurnRequest): Failure | undefined {
  const { session } = request;
  if (session === undefined) return undefined;
  if (session.runtime !== runtime) {
    return {
      kind: 'setting-unsupported',
      setting: 'session',
      message: `session ${session.id} belongs to ${session.runtime}; ${runtime} cannot resume it`,
      mayHaveActed: false,
    };
  }
  if (session.instructionsHash !== instructionsHash(request.instructions)) {
    return {
      kind: 'instructions-changed',
      setting: 'instructions',
      message: `${runtime} keeps the instructions of a session's first turn; other instructions need a new session`,
      mayHaveActed: false,
    };
  }
  return undefined;
}

/**
 * The prompt as the runtime gets it. A session resumed in another folder still remembers the old one (its transcript is
 * full of those paths), so the change is named first.
 */
export function promptFor(request: TurnRequest): string {
  const { session, workspace, prompt } = request;
  if (session === undefined || session.workspace === workspace.path) return prompt;
  return [
    `Your working directory has changed. It is now ${workspace.path} (before: ${session.workspace}).`,
    'Paths from earlier in this conversation that start with the old directory are no longer yours to use.',
    '',
    prompt,
  ].join('\n');
}
