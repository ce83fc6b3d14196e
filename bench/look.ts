import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGitWorkspaces } from '../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../src/substrate/git/inspect-repository.ts';
import { portsIn } from '../test/substrate/git/bench.ts';
import { median, milliseconds, round, rowOf, type Bench } from './shared/row.ts';

const FILES = Number(process.env['SQUAD_LOOK_FILES'] ?? 50_000);
const IN_ONE_FOLDER = 100;
const LOOKS = 11;
const run = promisify(execFile);

/** A look at a folder in which nothing has changed, as after each turn, and git's own. */
export const look: Bench = {
  name: 'look',
  run: async (folder) => {
    const repository = join(folder, 'repository');
    await createFlat(repository);
    const ports = portsIn(folder);
    const report = await inspectRepository(ports, repository);
    const workspaces = createGitWorkspaces(ports, report);
    await workspaces.createRunBranch('run', report.head);
    const place = await workspaces.addFolder({ run: 'run', task: 'task', commit: report.head });
    const { path } = place.workspace;
    // Files of the second in which an index was written are read again, by git each time.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await run('git', ['status', '--porcelain'], { cwd: path });
    const squad: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < LOOKS; index += 1) {
      squad.push(await milliseconds(async () => workspaces.snapshot(place)));
      bare.push(await milliseconds(async () => run('git', ['status', '--porcelain'], { cwd: path })));
    }
    const seen = await workspaces.snapshot(place);
    if (seen.type !== 'snapshot' || !seen.clean) throw new Error('the folder is not clean');
    await workspaces.close();
    return [
      rowOf(`a look at ${FILES} unchanged files, over \`git status\`, p50`, 'ms', median(squad), median(bare), {
        target: { of: 'ratio', most: 1 },
        note: `${LOOKS} of each in turns; slowest ${round(Math.max(...squad))} and ${round(Math.max(...bare))} ms`,
      }),
    ];
  },
};

async function createFlat(repository: string): Promise<void> {
  await run('git', ['init', '--quiet', '--initial-branch=main', repository]);
  for (let index = 0; index < FILES; index += 1) {
    const folder = join(repository, `folder-${Math.floor(index / IN_ONE_FOLDER)}`);
    if (index % IN_ONE_FOLDER === 0) mkdirSync(folder);
    writeFileSync(join(folder, `file-${index}.txt`), `${index}\n`);
  }
  for (const [key, value] of [
    ['user.name', 'a'],
    ['user.email', 'a@example.invalid'],
  ] as const)
    await run('git', ['config', key, value], { cwd: repository });
  await run('git', ['add', '--all'], { cwd: repository });
  await run('git', ['commit', '--quiet', '--message', 'files'], { cwd: repository });
}
