import { readFileSync } from 'node:fs';
import type { TurnReport } from '../../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { resultOf } from '../../../src/runtimes/shared/turn-verdict.ts';
import type { ClaudeFacts } from '../../../src/runtimes/claude/command.ts';
import { begin, isTerminal, translate, type ClaudeState } from '../../../src/runtimes/claude/translate.ts';
import { conclude } from '../../../src/runtimes/claude/translate.ts';
import type { NativeLine, TurnFacts, Verdict } from '../../../src/runtimes/shared/cli-adapter.ts';

/** 20 November 2026, 12:00 UTC. */
export const NOW = Date.UTC(2026, 10, 20, 12);

export function makeRequest(changes: Partial<TurnRequest> = {}): TurnRequest {
  return {
    turnId: 'attempt-1',
    workspace: { path: '/somewhere/tree' },
    prompt: 'Do it.',
    instructions: 'You are a builder.',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
    ...changes,
  };
}

export function makeFacts(changes: Partial<ClaudeFacts> = {}): ClaudeFacts {
  return {
    directory: '/turn',
    binary: '/opt/claude',
    home: '/state/claude/home',
    homeIsDefault: false,
    scratchRoot: '/state/claude/tmp',
    sessionsRoot: '/state/claude/sessions',
    environment: { PATH: '/usr/bin', HOME: '/home/me', ANTHROPIC_API_KEY: 'key' },
    credentials: [],
    config: undefined,
    confinement: 'os',
    isRoot: false,
    notes: [],
    skills: [],
    attached: [],
    ...changes,
  };
}

export function ended(code = 0, changes: Partial<TurnFacts> = {}): TurnFacts {
  return { ending: { type: 'exited', code, signal: null }, stderr: '', endedByHost: false, now: NOW, ...changes };
}

export function capture(name: string): string {
  return readFileSync(new URL(`../../fixtures/captures/claude/${name}`, import.meta.url), 'utf8');
}

export interface Played {
  readonly state: ClaudeState;
  readonly reports: TurnReport[];
  readonly terminal: boolean;
  readonly verdict: Verdict;
  /** As a caller of the runtime gets it. */
  readonly result: TurnResult;
}

export function play(lines: readonly NativeLine[], facts: TurnFacts, request: TurnRequest = makeRequest()): Played {
  let state = begin(request);
  const reports: TurnReport[] = [];
  for (const line of lines) {
    const next = translate(state, line);
    state = next.state;
    reports.push(...next.reports);
  }
  const terminal = isTerminal(state);
  const verdict = conclude(state, facts);
  const result = resultOf({
    ...{ runtime: 'claude', request, home: '/h', verdict, ending: facts.ending, hostEnding: undefined, terminal },
    ...{ acted: true, neverSeenAlive: false, survivors: [], stderrTail: '', startedAt: 0, durationMs: 0 },
  });
  return { state, reports, terminal, verdict, result };
}

/** Plays a recording of stdout, as the shared part would read it. */
export function replay(name: string, facts: TurnFacts, request?: TurnRequest): Played {
  const lines = capture(name)
    .split('\n')
    .filter((line) => line !== '')
    .map((line): NativeLine => ({ type: 'json', value: JSON.parse(line) as unknown }));
  return play(lines, facts, request);
}

export function json(...values: unknown[]): NativeLine[] {
  return values.map((value) => ({ type: 'json', value }));
}
