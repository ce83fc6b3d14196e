import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import type { TurnReport } from '../../../src/model/turn-event.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { resultOf } from '../../../src/runtimes/shared/turn-verdict.ts';
import type { CodexFacts } from '../../../src/runtimes/codex/command.ts';
import { beginCodex, concludeCodex, translateCodex, type CodexState } from '../../../src/runtimes/codex/translate.ts';
import type { TurnFacts, Verdict } from '../../../src/runtimes/shared/cli-adapter.ts';
import { nativeLine } from '../../../src/runtimes/shared/output-reader.ts';
import { requestOf } from '../request.ts';

export { requestOf };

export const THREAD = '01a1f881-7c5a-7af1-92a4-9c40c008570b';

export function factsOf(changes: Partial<CodexFacts> = {}): CodexFacts {
  return {
    config: undefined,
    environment: { PATH: '/bin' },
    home: '/home/u/.codex',
    binary: '/opt/codex',
    homeIsDefault: false,
    directory: '/turns/1',
    credentials: ['/home/u/.codex/auth.json'],
    repository: true,
    sandboxProblem: undefined,
    temporary: '/state/codex/tmp/1a',
    skills: [],
    notes: [],
    ...changes,
  };
}

export function capture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../fixtures/captures/codex/${name}`, import.meta.url)), 'utf8');
}

/** Plays lines of stdout and ends the turn, as the shared part would. */
export function play(
  output: string,
  options: { request?: Partial<TurnRequest>; facts?: Partial<TurnFacts> } = {},
): { state: CodexState; reports: TurnReport[]; verdict: Verdict; result: TurnResult } {
  const request = requestOf(options.request);
  let state = beginCodex(request);
  const reports: TurnReport[] = [];
  for (const text of output.split('\n').filter((line) => line !== '')) {
    const step = translateCodex(state, nativeLine({ type: 'line', text, offset: 0 }));
    state = step.state;
    reports.push(...step.reports);
  }
  const facts: TurnFacts = {
    ending: { type: 'exited', code: state.end === 'completed' ? 0 : 1, signal: null },
    stderr: '',
    endedByHost: false,
    now: Date.parse('2026-11-20T10:00:00Z'),
    ...options.facts,
  };
  const verdict = concludeCodex(state, facts);
  const result = resultOf({
    ...{ runtime: 'codex', request, home: '/h', verdict, ending: facts.ending, hostEnding: undefined },
    ...{ terminal: state.end !== undefined, acted: true, neverSeenAlive: false, survivors: [] },
    ...{ stderrTail: '', startedAt: 0, durationMs: 0 },
  });
  return { state, reports, verdict, result };
}
