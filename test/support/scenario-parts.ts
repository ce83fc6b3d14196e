import { stringify } from 'yaml';
import type { SessionAbout } from './session-folder.ts';
import { ALL_FIXED, finding } from './findings.ts';

/** A whole run with a scripted team, small enough to be killed a hundred times. */
export interface Scenario {
  readonly name: string;
  /** The text of its objective, if it has one. */
  readonly objective?: string;
  /** In place of an objective. `folder`: its path in the repository. */
  readonly session?: { readonly folder: string; readonly about: SessionAbout };
  /** squad.yaml; every command and every turn leaves one line in `effects`, outside the repository. */
  settings(script: string, effects: string): string;
  script(effects: string): { turns: readonly object[] };
  /** Its agents have the runtimes that its settings name, and not only `scripted`. */
  readonly ownRuntimes?: true;
  /** What a person does when an engine has ended by itself with this exit code. Any other code ends the run. */
  readonly operator?: Readonly<Record<number, Intervention>>;
}

interface Intervention {
  /** Commands, and then `squad resume` with these arguments more. */
  readonly commands: readonly (readonly string[])[];
  readonly resume: readonly string[];
}

export interface Piece {
  readonly id: string;
  readonly needs: readonly string[];
}

export const PLANNER = { name: 'planner', role: 'planner', access: 'read-only' };
export const REVIEWER = { name: 'reviewer-1', role: 'reviewer', access: 'read-only' };

export function builders(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ name: `builder-${index + 1}`, role: 'builder' }));
}

/** Its own line for each time it is really done, with the attempt that did it. */
export function leave(label: string, effects: string): { run: string[] } {
  return { run: ['/bin/sh', '-c', 'echo "$1 $SQUAD_TURN_ID" >> "$0"', effects, label] };
}

export function commit(message: string): { run: string[] }[] {
  return [{ run: ['git', 'add', '--all'] }, { run: ['git', 'commit', '--quiet', '--message', message] }];
}

export function planTurn(tasks: readonly Piece[], effects: string): object {
  const pieces = tasks.map(({ id, needs }) => ({
    id,
    title: `Make ${id}`,
    role: 'builder',
    needs,
    brief: `Write ${id}.txt.`,
    acceptance: [`${id}.txt exists`],
  }));
  return {
    when: 'Split this objective',
    steps: [leave('plan', effects), { answer: 'planned' }],
    structured: { summary: 'one piece after the other', tasks: pieces },
  };
}

/** The first turn of a piece's author: `<id>.txt` with its id in it, committed. */
export function pieceTurn(id: string, effects: string, before: readonly object[] = []): object {
  const write = { write: { path: `${id}.txt`, text: `${id}\n` } };
  return {
    when: `# Task ${id}:`,
    steps: [leave(id, effects), ...before, write, ...commit(`Make ${id}`), { answer: 'done' }],
  };
}

export function reviewTurn(turn: number, label: string, wrong: string | undefined, effects: string): object {
  const findings = wrong === undefined ? [] : [finding(wrong)];
  const approved = wrong === undefined;
  return {
    when: '# Review of task',
    turn,
    steps: [leave(label, effects), { answer: approved ? 'yes' : 'no' }],
    structured: { approved, summary: approved ? 'good' : 'not yet', findings, settled: ALL_FIXED },
  };
}

export function settings(
  agents: readonly object[],
  script: string,
  effects: string,
  limits: Readonly<Record<string, number>> = {},
  more: Readonly<Record<string, unknown>> = {},
): string {
  return stringify({
    version: 1,
    agents: agents.map((agent) => ({ runtime: 'scripted', ...agent })),
    runtimes: { scripted: { config: { script } } },
    limits: { parallel: 3, ...limits },
    ...more,
    setup: [{ run: `echo "setup $SQUAD_TURN_ID" >> '${effects}'` }],
    verify: [{ run: `test -f readme.md && echo "verify $SQUAD_TURN_ID" >> '${effects}'` }],
  });
}

export function objective(title: string, criterion: string): string {
  return `# ${title}\n\n## Goals\n- The files are there\n\n## Success criteria\n- They hold together (run: \`${criterion}\`)\n`;
}
