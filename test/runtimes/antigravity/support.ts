import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TurnReport } from '../../../src/model/turn-event.ts';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { command, type AntigravityFacts } from '../../../src/runtimes/antigravity/command.ts';
import { begin, conclude, translate } from '../../../src/runtimes/antigravity/translate.ts';
import type { CliCommand } from '../../../src/runtimes/shared/cli-adapter.ts';
import { createOutputReader } from '../../../src/runtimes/shared/output-reader.ts';
import { resultOf } from '../../../src/runtimes/shared/turn-verdict.ts';
import { createLineSplitter } from '../../../src/substrate/system/process/splitter.ts';
import { requestOf } from '../request.ts';

export { requestOf };

export const CONVERSATION = '4eeb7dfd-0000-4000-8000-000000000001';

export function factsOf(changes: Partial<AntigravityFacts> = {}): AntigravityFacts {
  return {
    config: undefined,
    environment: { PATH: '/bin', GEMINI_API_KEY: 'k' },
    home: '/state/homes/antigravity/1',
    binary: '/opt/agy',
    homeIsDefault: false,
    directory: '/turns/1',
    credentials: [],
    versionProblem: undefined,
    confiner: { kind: 'bubblewrap', bwrap: '/usr/bin/bwrap', env: '/usr/bin/env', namespaces: ['--unshare-ipc'] },
    view: { hidden: [], readable: [] },
    notes: [],
    foreignServers: false,
    ...changes,
  };
}

export function commandOf(request: Partial<TurnRequest> = {}, facts: Partial<AntigravityFacts> = {}): CliCommand {
  const made = command(requestOf(request), factsOf(facts));
  if (made.type === 'refusal') throw new Error(made.failure.message);
  return made;
}

export function capture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../fixtures/captures/agy/${name}`, import.meta.url)), 'utf8');
}

export interface Played {
  readonly reports: readonly TurnReport[];
  readonly result: TurnResult;
}

/** Plays the bytes of a turn and ends it, as the shared part would. */
export function play(
  stdout: string,
  {
    code = 0,
    stderr = '',
    now = 0,
    ...changes
  }: Partial<TurnRequest> & { code?: number; stderr?: string; now?: number } = {},
): Played {
  const request = requestOf(changes);
  const reader = createOutputReader({ begin, translate }, request);
  const splitter = createLineSplitter(64 * 1024, 1024);
  const reports = [...splitter.push(Buffer.from(stdout)), ...splitter.end()].flatMap((line) => [...reader.read(line)]);
  const state = reader.state();
  const ending = { type: 'exited' as const, code, signal: null };
  const result = resultOf({
    runtime: 'antigravity',
    request,
    home: '/state/homes/antigravity/1',
    verdict: conclude(state, { ending, stderr, endedByHost: false, now }),
    ending,
    hostEnding: undefined,
    terminal: state.result !== undefined,
    acted: reports.some(({ type }) => type === 'tool-started' || type === 'text'),
    neverSeenAlive: false,
    survivors: [],
    stderrTail: stderr,
    startedAt: 0,
    durationMs: 1,
  });
  return { reports, result };
}

type Line = Record<string, unknown>;

export function lines(...all: Line[]): string {
  return all.map((line) => `${JSON.stringify(line)}\n`).join('');
}

export const init = (conversation = CONVERSATION): Line => ({
  event: 'init',
  conversation_id: conversation,
  init: { cwd: '/w/tree', tools: ['run_command'], permission_mode: 'always-proceed' },
});

export const step = (index: number, state: string, type: string, more: object = {}): Line => ({
  event: 'step_update',
  step_update: { conversation_id: CONVERSATION, step_index: index, state, step_type: type, ...more },
});

export const counters = (input: number, output: number, cached = 0, thinking = 0) => ({
  input_tokens: input,
  output_tokens: output,
  thinking_tokens: thinking,
  cache_read_tokens: cached,
  total_tokens: input + output,
});

export const result = (more: object = {}): Line => ({
  event: 'result',
  result: {
    conversation_id: CONVERSATION,
    status: 'SUCCESS',
    response: 'done\n',
    num_turns: 1,
    usage: counters(100, 10),
    ...more,
  },
});
