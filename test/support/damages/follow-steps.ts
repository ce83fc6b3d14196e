import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI_ENTRY } from '../cli-entry.ts';

const LONGEST_MS = 240_000;

export interface Followed {
  readonly code: number | null;
  readonly said: string;
}

/** Runs lines that squad printed as a person would: in a shell, one after the other, with `squad` in its PATH. */
export function followSteps(
  { root, cwd, home }: { readonly root: string; readonly cwd: string; readonly home: string },
  steps: readonly string[],
): Followed {
  const bin = join(root, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'squad'), `#!/bin/sh\nexec '${process.execPath}' '${CLI_ENTRY}' "$@"\n`);
  chmodSync(join(bin, 'squad'), 0o755);
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: home, XDG_STATE_HOME: join(home, 'state') };
  const input = steps.join('\n');
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-e'], {
    ...{ cwd, env, input, encoding: 'utf8', timeout: LONGEST_MS, maxBuffer: 64 * 1024 * 1024 },
  });
  return { code: status, said: stdout + stderr };
}

/** The command that squad names next for a run that no one on this machine has agreed to. */
export function consentIn(said: string): string | undefined {
  return /`(squad resume [^`]*--yes[^`]*)`/.exec(said)?.[1];
}
