import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { refsOfRun } from '../../../src/squad/moving/run-parts.ts';
import { backUpAfterRun, backUpLedger, ledgerPath } from '../../../src/substrate/ledger/index.ts';
import { backupsOf, filesOf } from '../../../src/substrate/ledger/backup-files.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';

const PRIVATE = ['attachments/aa/plan.md', 'copies/RUN/bb'];
const OWN = ['runs/RUN/armory/cc/SKILL.md', 'runs/RUN/folder.jsonl', 'runs/RUN/plan.yaml'];
/** The ledger or the repository makes them again, or they are only for people. */
const OTHERS = [
  'runs/RUN/report.md',
  'runs/RUN/history/a-1.md',
  'turns/a-1/secrets.json',
  'trust.json',
  'blobs/no-message.json',
];

function stored() {
  const run = new RecordedRun(definition()).allocate();
  const id = run.ledger.runs()[0]?.id ?? '';
  run.close();
  const named = (paths: readonly string[]) => paths.map((path) => path.replace('RUN', id)).toSorted();
  for (const path of named([...PRIVATE, ...OWN, ...OTHERS, 'runs/another/armory/dd/x'])) {
    mkdirSync(dirname(join(run.directory, path)), { recursive: true });
    writeFileSync(join(run.directory, path), path);
  }
  return { directory: run.directory, path: ledgerPath(run.directory), named };
}

it('a copy that a person makes has all of them, and one at the end of a run none that are deleted with it', async () => {
  const { directory, path, named } = stored();
  await backUpAfterRun(path, 1);
  const persons = join(directory, 'mine.db');
  await backUpLedger(path, persons);
  const [byRun = ''] = backupsOf(path).map((name) => filesOf(join(directory, name)));
  const has = (folder: string) =>
    named([...PRIVATE, ...OWN, ...OTHERS]).filter((file) => existsSync(join(folder, file)));
  expect(has(byRun)).toEqual(named(OWN));
  expect(has(filesOf(persons))).toEqual(named([...PRIVATE, ...OWN]));
});

it('names the refs of a run, without a branch where it delivers none', () => {
  expect(refsOfRun({ name: 'tidy' })).toEqual({ branch: 'refs/heads/squad/tidy', below: 'refs/squad/tidy/' });
  expect(refsOfRun({ name: 'tidy', makesBranch: false })).toEqual({ below: 'refs/squad/tidy/' });
});
