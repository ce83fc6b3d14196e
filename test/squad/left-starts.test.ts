import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { tidyLeftStarts } from '../../src/squad/left-starts.ts';
import { commandRoom } from '../cli/room.ts';
import { newStateOf } from '../support/state.ts';
import { testHost } from '../support/test-host.ts';
import { definition, RecordedRun } from '../view/report/support.ts';

/** No system gives so high a pid. */
const GONE = 2 ** 30;

it('gives the output of engines to their runs, and removes only what is old', async () => {
  const { root, repository } = commandRoom();
  const directory = newStateOf(repository);
  const run = new RecordedRun(definition(), directory).allocate();
  run.close();
  const [runs, panes] = [join(directory, 'runs'), join(directory, 'panes')];
  for (const folder of [runs, panes]) mkdirSync(folder, { recursive: true });
  const old = new Date(Date.now() - 2 * 24 * 60 * 60_000);
  const write = (path: string, isOld = false): void => {
    writeFileSync(path, path);
    if (isOld) utimesSync(path, old, old);
  };
  write(join(runs, `tidy.${GONE}.log`));
  write(join(runs, `tidy.${process.pid}.log`), true);
  write(join(runs, `other.${GONE}.log`), true);
  write(join(runs, `slow.${GONE}.log`));
  write(join(panes, 'old'), true);
  write(join(panes, 'new'));
  const workspace = { directory, composition: compose(testHost(root, { workingDirectory: repository })) };
  await tidyLeftStarts(workspace, 'engine.log');
  const ids = readdirSync(runs).filter((name) => !name.endsWith('.log'));
  expect(ids).toHaveLength(1);
  const own = join(runs, ids[0] ?? '');
  expect(readFileSync(join(own, 'engine.log'), 'utf8')).toContain(`tidy.${GONE}.log`);
  expect(
    readdirSync(runs)
      .filter((name) => name.endsWith('.log'))
      .toSorted(),
  ).toEqual([`slow.${GONE}.log`, `tidy.${process.pid}.log`].toSorted());
  expect(readdirSync(panes)).toEqual(['new']);

  // The output of an engine that resumed the run stays as it is.
  write(join(runs, `tidy.${GONE}.log`));
  await tidyLeftStarts(workspace, 'engine.log');
  expect(
    readdirSync(own)
      .filter((name) => name.endsWith('.log'))
      .toSorted(),
  ).toEqual(['engine.log', `tidy.${GONE}.log`].toSorted());
});
