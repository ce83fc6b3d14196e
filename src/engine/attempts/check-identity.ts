import { setTimeout as sleep } from 'node:timers/promises';
import { badInput } from '../../model/errors.ts';
import { processIdentitySchema } from '../../model/process-identity.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { Turn, TurnContext } from '../../runtimes/port/agent-runtime.ts';

/** How long a runtime may take to end a turn that cannot go on. */
const ENDS_MS = 10_000;

type OnSpawned = TurnContext['onSpawned'];

/**
 * A turn whose runtime reports a process that cannot be the turn's fails, and no other. `start` gets what to report it to: a runtime of an
 * application may ignore that it rejects.
 */
export function withTrueIdentity(
  { runtime, marker }: { readonly runtime: string; readonly marker: string },
  commit: OnSpawned,
  start: (onSpawned: OnSpawned) => Turn,
): Turn {
  const wrong = Promise.withResolvers<string>();
  let isWrong = false;
  const check: OnSpawned = async (identity, at) => {
    const problem = problemOf(identity, marker);
    if (problem === undefined) return commit(identity, at);
    const message = `the runtime ${runtime} reports a wrong process for this turn: ${problem}`;
    isWrong = true;
    wrong.resolve(message);
    throw badInput(message, `Correct the runtime ${runtime}.`);
  };
  const turn = start((identity, at) => {
    const committed = check(identity, at);
    // The runtime may not wait for it.
    committed.catch(() => undefined);
    return committed;
  });
  const refusal = wrong.promise.then(async (message) => refused(turn, message));
  // Whatever the runtime then says of its own turn.
  const own = turn.result.then(
    async (ended) => (isWrong ? refusal : ended),
    async (error: unknown) => (isWrong ? refusal : Promise.reject(error)),
  );
  const result = Promise.race([own, refusal]);
  result.catch(() => undefined);
  return {
    result,
    cancel: async (reason) => {
      await Promise.race([turn.cancel(reason), result]);
      return result;
    },
    detach: async () => turn.detach(),
    activity: () => turn.activity(),
  };
}

function problemOf(identity: unknown, marker: string): string | undefined {
  const read = processIdentitySchema.safeParse(identity);
  const [issue] = read.error?.issues ?? [];
  if (issue !== undefined) return `${['identity', ...issue.path].join('.')}: ${issue.message}`;
  if (read.data?.marker === marker) return undefined;
  return `its marker is ${JSON.stringify(read.data?.marker)}, and the turn’s is ${marker}`;
}

/** The agent may run all the same, so that it is ended first. */
async function refused(turn: Turn, message: string): Promise<TurnResult> {
  const late = new AbortController();
  const wait = sleep(ENDS_MS, 'late' as const, { signal: late.signal }).catch(() => 'late' as const);
  const ended = turn.cancel(message).then(
    () => 'ended' as const,
    () => 'ended' as const,
  );
  const how = await Promise.race([ended, wait]);
  late.abort();
  const kind = how === 'ended' ? 'protocol' : 'not-stopped';
  const failure = { kind, message, mayHaveActed: true } as const;
  return { outcome: 'failed', text: '', denials: [], failure, stderrTail: '', durationMs: 0 };
}
