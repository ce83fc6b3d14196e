import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { git } from '../support/git.ts';
import type { ProjectRoom, Said } from './real-project-room.ts';

/** What it writes holds, and says what only a person knows; then it is taken as it says. */
export async function expectInit({ squad, clone }: ProjectRoom): Promise<void> {
  const init = await squad(['init']);
  expect(init.output).toContain('Next: if tests need .env, take the “#” away before `copy` in squad.yaml\n');
  const path = join(clone, 'squad.yaml');
  const written = readFileSync(path, 'utf8');
  expect(written).toContain(
    'setup:\n  - run: "npm ci"\n    minutes: 10\n    reuse: ["node_modules"]\n    when: ["package.json", "package-lock.json"]\n',
  );
  expect(written).toContain('verify:\n  - { run: "npm test", minutes: 10 }\n');
  writeFileSync(path, written.replace(/^# (?=copy: \[\.env\]|env: \[DATABASE_URL\])/gm, ''));
  git(clone, 'add', '-A');
  git(clone, 'commit', '-q', '-m', 'Set up squad');
}

/** `passed`: commands of the gate. Those that a planner proposed run only where a person approved the plan. */
export function expectDone(room: ProjectRoom, { code, output }: Said, passed = 1): void {
  expect(output).toMatch(/^DONE, /m);
  expect(code, output).toBe(0);
  expect(output).toMatch(new RegExp(`^gate .*: ${passed} passed$`, 'm'));
  expect(output).not.toMatch(/ red before the work|^back /m);
  expect(room.attempts().filter(({ status }) => status !== 'settled')).toEqual([]);
}

export async function expectMerged({ squad, clone }: ProjectRoom): Promise<void> {
  const { code, output } = await squad(['merge']);
  expect(code, output).toBe(0);
  expect(output).toMatch(/^merged .* into main: now at \w+, by fast-forward$/m);
  expect(git(clone, 'status', '--porcelain')).toBe('');
}
