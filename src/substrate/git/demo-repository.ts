import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import { type GitPorts, hardenedArguments, gitEnvironment } from './git-call.ts';

/** A new repository with these files in one commit, and an identity of its own. The folder must be new or empty. */
export async function createRepository(
  ports: GitPorts,
  path: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text, { flag: 'wx' });
  const steps = [
    ['init', '--quiet', '--initial-branch=main'],
    ['config', 'user.name', 'squad demo'],
    ['config', 'user.email', 'demo@squad.invalid'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', 'The state before the squad came'],
  ];
  for (const step of steps) {
    const run = await ports.processes.run(await ports.binary(), [...hardenedArguments(), ...step], {
      cwd: path,
      env: gitEnvironment(ports.environment),
      timeoutMs: 30_000,
    });
    if (run.code !== 0) {
      throw new SquadError({
        code: 'wrong-environment',
        message: `git ${step[0]} failed in ${path}: ${run.problem ?? run.stderr.trim()}`,
        next: 'Run `squad doctor`.',
      });
    }
  }
}
