import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type FakeStep = Readonly<Record<string, unknown>>;

interface FakeTurn {
  readonly when?: string;
  readonly turn?: number;
  readonly steps: readonly FakeStep[];
  readonly repair?: readonly FakeStep[];
  readonly after?: readonly FakeStep[];
  readonly usage?: object | null;
  readonly meta?: object;
  readonly stop?: string;
}

/** What `fake-acp-agent.mjs` plays; its head says more. */
export interface FakeAcpScript {
  readonly turns: readonly FakeTurn[];
  readonly initialize?: object;
  readonly session?: object;
  readonly auth?: string;
  readonly on?: Readonly<Record<string, readonly FakeStep[]>>;
  readonly unknownSession?: object;
  readonly keeps?: 'answered';
  readonly state?: string;
}

/** A permission request as the agent sent it, or an answer as it came. */
export interface FakeAsked {
  readonly at?: number;
  readonly id?: string | number;
  readonly tool?: Readonly<Record<string, unknown>>;
  readonly options?: unknown;
  readonly answerTo?: string | number;
  /** A second answer to one request. */
  readonly again?: true;
  readonly tookMs?: number;
  readonly result?: { readonly outcome?: { readonly outcome?: string; readonly optionId?: string } };
}

export const FAKE_ACP_AGENT = fileURLToPath(new URL('./fake-acp-agent.mjs', import.meta.url));

/** The arguments of a Node that plays this script, or the one in this file. */
export function fakeAcpArguments(script: FakeAcpScript | string): string[] {
  return [FAKE_ACP_AGENT, typeof script === 'string' ? script : JSON.stringify(script)];
}

/** What fake agents have left in a file of theirs, in any home below this folder, one entry a line. */
export function fakeAcpNotes(folder: string, file: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(join('.fake-acp', file)))
    .flatMap((path) => readFileSync(join(folder, path), 'utf8').split('\n'))
    .filter((line) => line !== '');
}
