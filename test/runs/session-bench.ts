import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workers, writeSession, type SessionAbout } from '../support/session-folder.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import type { Entry } from './run-script.ts';

/** Where it is, from the repository. */
export const FOLDER = '.workflow/.team/TC-make';

/** One who reads, and one who makes a file for each task. */
export const PAIR: SessionAbout = {
  roles: [
    { name: 'analyst', responsibility: 'read-only' },
    { name: 'maker', responsibility: 'code-gen' },
  ],
  tasks: [
    { id: 'SPEC-001', role: 'analyst' },
    { id: 'MAKE-001', role: 'maker', needs: ['SPEC-001'] },
    { id: 'MAKE-002', role: 'maker', needs: ['MAKE-001'] },
  ],
};

export interface SessionBench extends RunBench {
  readonly folder: string;
  /** What `team-session.json` says now. */
  state(): Record<string, unknown>;
  /** `squad run --session=…` on the scripted runtime. */
  play(more?: readonly string[], folder?: string): ReturnType<RunBench['run']>;
  /** The same as a process of its own, with `--json`. */
  startPlay(more?: readonly string[]): ReturnType<RunBench['start']>;
}

/** A repository with a session in a folder that git does not look at. */
export function openSessionBench(
  { onTestFinished }: { onTestFinished: (end: () => void) => void },
  about: SessionAbout = PAIR,
  script: readonly Entry[] = workers(about),
): SessionBench {
  const bench = openRunBench({ script });
  onTestFinished(() => bench.end());
  const folder = writeSession(join(bench.repository, FOLDER), about);
  writeFileSync(join(bench.repository, '.git', 'info', 'exclude'), '.workflow\nsquad.yaml\nobjective.md\n');
  const args = (path: string): string[] => ['run', `--session=${path}`, '--runtime', 'scripted', '--yes'];
  return {
    ...bench,
    folder,
    state: () => JSON.parse(readFileSync(join(folder, 'team-session.json'), 'utf8')) as Record<string, unknown>,
    play: (more = [], path = FOLDER) => bench.run([...args(path), ...more]),
    startPlay: (more = []) => bench.start([...args(FOLDER), '--json', ...more]),
  };
}
