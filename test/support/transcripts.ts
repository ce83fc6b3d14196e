import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '../../src/text/json.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import { turnResultSchema, type TurnResult } from '../../src/model/turn-result.ts';
import * as agy from '../../src/runtimes/antigravity/translate.ts';
import { begin, conclude, isTerminal, translate } from '../../src/runtimes/claude/translate.ts';
import { beginCodex, concludeCodex, translateCodex } from '../../src/runtimes/codex/translate.ts';
import type { CliAdapter } from '../../src/runtimes/shared/cli-adapter.ts';
import { nativeLine } from '../../src/runtimes/shared/output-reader.ts';
import { resultOf } from '../../src/runtimes/shared/turn-verdict.ts';
import { createLineSplitter } from '../../src/substrate/system/process/splitter.ts';

export type Cli = 'antigravity' | 'claude' | 'codex';
const FOLDERS: Readonly<Record<Cli, string>> = { antigravity: 'agy', claude: 'claude', codex: 'codex' };
export type Random = () => number;
export type Line = Record<string, unknown>;

/** A turn as its files would show it. */
export interface Transcript {
  readonly cli: Cli;
  readonly stdout: Buffer;
  readonly code: number;
  readonly request?: Partial<TurnRequest>;
}

/** All recordings of stdout, by name. */
export function recordings(cli: Cli): ReadonlyMap<string, string> {
  const folder = fileURLToPath(new URL(`../fixtures/captures/${FOLDERS[cli]}/`, import.meta.url));
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return new Map(names.map((name) => [name.replace('.jsonl', ''), readFileSync(folder + name, 'utf8')]));
}

/** The result of a turn that printed this, read in pieces of any size, as a caller of the runtime gets it. */
export function resultFrom(transcript: Transcript, random: Random): TurnResult {
  switch (transcript.cli) {
    case 'antigravity':
      return judge(transcript, { ...agy, isTerminal: ({ result }) => result !== undefined }, random);
    case 'claude':
      return judge(transcript, { begin, translate, isTerminal, conclude }, random);
    case 'codex': {
      const codex = { begin: beginCodex, translate: translateCodex, conclude: concludeCodex };
      return judge(transcript, { ...codex, isTerminal: ({ end }) => end !== undefined }, random);
    }
  }
}

type Translator<State> = Pick<CliAdapter<unknown, State>, 'begin' | 'translate' | 'isTerminal' | 'conclude'>;

function judge<State>(
  { cli, stdout, code, ...more }: Transcript,
  adapter: Translator<State>,
  random: Random,
): TurnResult {
  const request: TurnRequest = {
    turnId: 'turn',
    workspace: { path: '/tree' },
    prompt: 'Do it.',
    instructions: 'You are a builder.',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
    ...more.request,
  };
  let state = adapter.begin(request);
  for (const line of linesOf(stdout, random)) state = adapter.translate(state, nativeLine(line)).state;
  const ending = { type: 'exited' as const, code, signal: code === 137 ? 'SIGKILL' : null };
  const result = resultOf({
    runtime: cli,
    request,
    home: '/home',
    verdict: adapter.conclude(state, { ending, stderr: '', endedByHost: false, now: 0 }),
    ending,
    hostEnding: undefined,
    terminal: adapter.isTerminal(state),
    acted: true,
    neverSeenAlive: false,
    survivors: [],
    stderrTail: '',
    startedAt: 0,
    durationMs: 1,
  });
  return turnResultSchema.parse(result);
}

function linesOf(bytes: Buffer, random: Random) {
  const splitter = createLineSplitter(64 * 1024, 1024);
  const lines = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + Math.floor(random() * 9000);
    lines.push(...splitter.push(bytes.subarray(at, end)));
    at = end;
  }
  return [...lines, ...splitter.end()];
}

/** The lines that are whole and JSON objects: what a reader that knows nothing of squad's would see. */
export function objectsIn(stdout: Buffer): Line[] {
  return stdout
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return isJsonObject(value) ? [value] : [];
      } catch {
        // Prose, or a line that was damaged.
        return [];
      }
    });
}
