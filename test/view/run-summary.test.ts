import { expect, test } from 'vitest';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { endedView } from '../../src/view/ended-view.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { plainJson } from '../../src/text/json.ts';
import { rejects } from '../playbooks/simulator.ts';
import { summarizeRun } from '../../src/view/run-summary.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { definition, play, RecordedRun } from './report/support.ts';

function finished(): RecordedRun {
  const about = definition();
  return new RecordedRun(about).allocate().plan(play(about).entries);
}

function publish(run: RecordedRun): RecordedRun {
  return run.publish().writeEnd();
}

/** The row, and whether the whole plan was read for it. */
function summarize(run: RecordedRun) {
  let whole = false;
  const events: Ledger['events'] = (where) => {
    whole ||= where.types === undefined ? where.limit === undefined : where.types.includes(RUN_EVENTS.plan);
    return run.ledger.events(where);
  };
  const row = run.ledger.run(run.id);
  if (row === undefined) throw new Error('no such run');
  const summary = summarizeRun({ ...run.ledger, events }, row, null, run.clock.time);
  return { summary, whole };
}

test('a finished run has the same row with and without its history', () => {
  const old = finished().publish();
  old.ledger.releaseLease(old.lease);
  const run = publish(finished());
  run.ledger.releaseLease(run.lease);
  const quick = summarize(run);
  const slow = summarize(old);
  expect(quick.whole).toBe(false);
  expect(slow.whole).toBe(true);
  expect(quick.summary).toEqual(slow.summary);
  expect(quick.summary).toMatchObject({
    ...{ name: 'tidy', state: 'done', need: null, why: null, tasks: { all: 3, done: 3 } },
    headline: 'DONE, 1 of 1 criterion judged by rex, not run',
  });
});

test.each(['delivery', 'council', 'stages'])(
  'a run of the queue has the same row with and without its plan: %s',
  (playbook) => {
    const run = finished();
    const { ledger, clock } = run;
    const about = { ...definition({ priority: 'high', deadline: 9_000_000_000_000 }), playbook };
    const stage = { id: 'work', title: 'Work', makes: { code: true }, needs: [] };
    const list = { list: { stages: [stage] }, folder: 'docs', reviewRounds: 4 };
    const queue = (id: string, more: object): Parameters<typeof summarizeRun>[1] => {
      const row = ledger.createRun({ id, name: id });
      ledger.submit({ id, definition: plainJson({ ...about, ...more, name: id, submitted: { at: 1, by: 'ada' } }) });
      return row;
    };
    const rows = [queue('one', {}), ...(playbook === 'stages' ? [queue('two', { options: list })] : [])];
    for (const row of rows) {
      const quick = summarizeRun(ledger, row, null, clock.time);
      // Of no consequence to the row, and from then on the plan is folded.
      ledger.append(row.id, RUN_EVENTS.clockSetBack, { ms: 1 });
      expect(quick).toEqual(summarizeRun(ledger, row, null, clock.time));
      expect(quick).toMatchObject({ state: 'queued', need: 'queued', objective: 'Tidy up' });
    }
  },
);

test('a run of the queue that begins with the result of another one says what it waits for', () => {
  const { ledger, clock } = finished();
  const submit = (id: string, after: string): unknown => {
    const row = ledger.createRun({ id, name: id });
    const submitted = { at: 1, by: 'ada', after };
    ledger.submit({ id, definition: plainJson({ ...definition(), name: id, submitted }) });
    return summarizeRun(ledger, row, null, clock.time);
  };
  expect(submit('one', 'run-1')).toMatchObject({
    state: 'queued',
    need: 'held',
    why: expect.stringContaining('is gone'),
  });
  expect(submit('two', 'one')).toMatchObject({ state: 'queued', need: 'waits', why: 'it waits for one' });
  ledger.append('one', RUN_EVENTS.startRefused, { why: 'ada took it out', dropped: true });
  const row = ledger.run('two')!;
  expect(summarizeRun(ledger, row, null, clock.time)).toMatchObject({
    need: 'held',
    why: expect.stringContaining('`squad resume one` starts it'),
  });
});

test('a person’s command after the end can reopen the run, so the plan decides', () => {
  const run = publish(finished());
  run.ledger.releaseLease(run.lease);
  run.ledger.command(run.id, 'retry', { task: 'a', fresh: false }, 'ada');
  expect(summarize(run)).toMatchObject({ whole: true, summary: { need: null } });
});

test('an engine that was killed before its report is resumed', () => {
  expect(summarize(publish(finished()))).toMatchObject({ whole: true, summary: { need: 'gone' } });
});

test('a run without a definition has no row', () => {
  const run = finished();
  const row = run.ledger.createRun({ id: 'turn', name: 'turn-1' });
  expect(summarizeRun(run.ledger, row, null, 1)).toBeUndefined();
});

test.each(['done', 'failed'])('a run that is over has the same view from the row of its end: %s', (how) => {
  const about = definition();
  const script =
    how === 'done'
      ? {}
      : { turn: ({ review }: { review: string | null }) => (review === null ? undefined : rejects('no')) };
  const played = play(about, script);
  const run = new RecordedRun(about).allocate().plan(played.entries).decide('finish', played.end.why);
  run.publish().writeEnd();
  const row = run.ledger.run(run.id)!;
  expect(endedView(run.ledger, row)).toBeUndefined();
  run.clock.time += 5_000;
  run.ledger.releaseLease(run.lease, 5_000);
  const view = endedView(run.ledger, row);
  expect(view).toEqual(plainJson(viewOf(run.read(), { now: run.clock.time })));
  expect(view?.end?.outcome).toBe(how);
  run.ledger.command(run.id, 'retry', { task: 'a', fresh: false }, 'ada');
  expect(endedView(run.ledger, row)).toBeUndefined();
});
