import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pidsOf, type InsidePid } from './inside-pids.ts';
import { fixture } from './runtime-bench.ts';

/** One entry of `chaos.json`; see test/fixtures/agents/chaos-agent.mjs. */
export interface ChaosEntry {
  readonly when?: string;
  /** A regular expression in place of `when`. */
  readonly match?: string;
  readonly label?: string;
  /** It fits for so long after it fitted first. */
  readonly seconds?: number;
  /** It fits so often. */
  readonly times?: number;
  /** Milliseconds. */
  readonly works?: number;
  readonly commits?: false;
  /** A shell command; PROMPT is the prompt. */
  readonly runs?: string;
  readonly usd?: number;
  readonly mode?: string;
  readonly text?: string;
  readonly limit?: string;
  readonly structured?: unknown;
  readonly files?: Readonly<Record<string, string>>;
  readonly bytes?: number;
  readonly lines?: number;
  readonly says?: string;
  readonly count?: number;
}
export interface ChaosPlan {
  readonly seed?: number;
  readonly turns?: readonly ChaosEntry[];
}

export interface ChaosTurn {
  readonly label?: string;
  readonly as: string;
  readonly mode: string;
  readonly session: string;
  readonly resumed: boolean;
  readonly pid: number;
  /** Epoch ms: when its process began. */
  readonly at: number;
}

interface ChaosEnd {
  readonly pid: number;
  /** Epoch ms. */
  readonly at: number;
}

export interface ChaosAgent {
  /** Holds the executables: to be put on PATH. */
  readonly folder: string;
  path(cli: 'claude' | 'codex' | 'agy' | 'acp'): string;
  /** For turns that start from now on. */
  plan(plan: ChaosPlan): void;
  /** The turns taken so far. */
  turns(): ChaosTurn[];
  /** Pids of the turns that gave their answer. */
  answered(): number[];
  /** The turns that gave their answer, in that order. */
  ends(): ChaosEnd[];
  /** Pids of the processes that turns have started, named or not; 0 of those that are gone. */
  children(): number[];
}

/** Puts the chaos-agent into a folder under the names of the CLIs. */
export function installChaosAgent(folder: string, first: ChaosPlan): ChaosAgent {
  mkdirSync(folder, { recursive: true });
  // One that is confined sees the folder of its program, and perhaps not where these come from.
  for (const part of ['chaos-agent.mjs', 'chaos'])
    cpSync(fixture(`agents/${part}`), join(folder, part), { recursive: true });
  const script = `#!/bin/sh\nexec '${process.execPath}' '${join(folder, 'chaos-agent.mjs')}' "$0" "$@"\n`;
  for (const name of ['claude', 'codex', 'agy', 'acp']) writeFileSync(join(folder, name), script, { mode: 0o755 });
  const plan: ChaosAgent['plan'] = (next) => writeFileSync(join(folder, 'chaos.json'), JSON.stringify(next));
  plan(first);
  const noted = <T>(file: string): T[] => {
    try {
      return readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as T);
    } catch {
      // Nothing was noted yet.
      return [];
    }
  };
  return {
    folder,
    path: (cli) => join(folder, cli),
    plan,
    turns: () => noted('chaos.log'),
    answered: () => noted<ChaosEnd>('chaos.ends').map(({ pid }) => pid),
    ends: () => noted('chaos.ends'),
    children: () => pidsOf(noted<InsidePid>('chaos.pids')),
  };
}
