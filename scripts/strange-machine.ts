// The lane on a strange machine: the tests of `npm test`, or the files that are named, where all that a test could take from its
// person by accident is there and wrong. Fails where a test fails, or where one has started a program of that machine.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeStrangeMachine, STRANGE_UMASK } from '../test/support/strange-machine.ts';

const HELP = `Runs the tests of npm test on a machine that is strange in every way.

  npm run test:strange-machine -- [--files FILE …] [flags of vitest]

  --files   only these test files
  Example:  npm run test:strange-machine -- --files test/runs/refusals.test.ts

The agents' programs on its PATH tell if a test starts one. Its home has hostile settings of git, npm, squad and agents, its
language is German, its time that of Seoul, and its umask 077.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
if (args.includes('--help')) console.log(HELP);
else process.exitCode = run(args.filter((arg) => arg !== '--files'));

function run(given: readonly string[]): number {
  const place = mkdtempSync(join(tmpdir(), 'squad-strange-'));
  try {
    const machine = makeStrangeMachine(place);
    process.umask(STRANGE_UMASK);
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const { status } = spawnSync(process.execPath, [vitest, 'run', '--tags-filter=!all', ...given], {
      cwd: root,
      stdio: 'inherit',
      env: { ...machine.environment, SQUAD_TEST_BUILT: '1' },
    });
    const started = machine.started();
    for (const line of started) console.error(`A test started what it did not name: ${line}`);
    return started.length > 0 ? 1 : (status ?? 1);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
