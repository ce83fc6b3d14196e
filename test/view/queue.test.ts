import { expect, test } from 'vitest';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { listQueue } from '../../src/view/queue.ts';
import { listUnfinished } from '../../src/view/unfinished.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { plainJson } from '../../src/text/json.ts';
import { definition, RecordedRun } from './report/support.ts';

test('a run of the queue to which nothing has happened is listed as ever, and its plan is not read', () => {
  const { ledger, clock } = new RecordedRun(definition());
  const submit = (id: string, more: object = {}, objective: Parameters<typeof definition>[0] = {}): void => {
    ledger.createRun({ id, name: id });
    const submitted = { at: clock.time, by: 'ada', ...more };
    ledger.submit({ id, definition: plainJson({ ...definition(objective), name: id, submitted }) });
  };
  submit('one');
  submit('two', { after: 'one' }, { priority: 'high' });
  submit('three', { base: 'main' });
  submit('four', { after: 'nothing' });
  let folds = 0;
  const events: Ledger['events'] = (where) => {
    if (where.types === undefined || where.types.includes(RUN_EVENTS.plan)) folds += 1;
    return ledger.events(where);
  };
  const look = (): unknown => [
    listQueue({ ...ledger, events }, clock.time),
    listUnfinished({ ...ledger, events }, null, clock.time).filter(({ submitted }) => submitted),
  ];
  const quick = look();
  // Of the run that is not in the queue alone.
  expect(folds).toBe(1);
  expect(quick).toMatchObject([
    [
      { name: 'two', state: 'waits', base: { of: 'run', run: 'one' } },
      { name: 'one', state: 'ready' },
      { name: 'three', state: 'ready', base: { of: 'ref', ref: 'main' } },
      { name: 'four', state: 'held' },
    ],
    [{ need: 'held' }, { need: 'queued' }, { need: 'waits' }, { need: 'queued' }],
  ]);
  // Of no consequence to them, and from then on their plans are read.
  for (const id of ['one', 'two', 'three', 'four']) ledger.append(id, RUN_EVENTS.clockSetBack, { ms: 1 });
  expect(look()).toEqual(quick);
  expect(folds).toBeGreaterThan(8);
});
