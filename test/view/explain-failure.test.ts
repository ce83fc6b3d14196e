import { describe, expect, it } from 'vitest';
import { failureLines, rejectionLines } from '../../src/cli/render/failure-lines.ts';
import { renderRunEvent } from '../../src/cli/render/run-lines.ts';
import { renderStatus } from '../../src/cli/render/status-board.ts';
import { openRunEvents } from '../../src/view/run-events.ts';
import { statusOf } from '../../src/view/status.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { explainFailure, failuresOf, type FailureFacts, rejectionsOf } from '../../src/view/explain-failure.ts';
import { rejectionSchema } from '../../src/model/rejection.ts';
import { taskFailureSchema } from '../../src/model/task-failure.ts';
import type { ToolError } from '../../src/model/tool-error.ts';
import type { Json } from '../../src/text/json.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { failed, rejects } from '../playbooks/simulator.ts';
import { BASE, definition, HEAD, play, RecordedRun } from './report/support.ts';
import { renderReport } from './report/render-report.ts';

const ERROR: ToolError = { tool: 'shell', input: 'git commit', output: 'no identity', denied: false };

/** Each task needs the one before it. */
function chainOf(...ids: string[]): Json {
  const tasks = ids.map((id, index) => ({
    ...{ id, title: `Do ${id}`, role: 'builder', brief: `Build ${id}.`, acceptance: [`${id} works`] },
    needs: ids.slice(Math.max(0, index - 1), index),
  }));
  return { summary: '', tasks };
}

/** A task `a` that failed after these turns of its author, with what git keeps. */
function explained(turns: readonly Partial<TurnResult>[], more: Partial<FailureFacts> = {}) {
  const about = definition();
  const failing = {
    turn: ({ task }: { task: string }) => (task === 'a' ? failed('bad-request') : undefined),
  };
  const run = new RecordedRun(about).allocate().plan(play(about, failing).entries);
  for (const [index, result] of turns.entries()) run.turn('a', index + 1, 'bob', result);
  const { board, attempts } = run.read();
  const state = board.tasks.get('a');
  if (state === undefined) throw new Error('there is no task a');
  const own = attempts.filter(({ attempt }) => attempt.taskId === 'a');
  return explainFailure({ run: 'tidy', state, turns: own, kept: [], cancelled: [], base: BASE, ...more });
}

describe('why a task was not delivered', () => {
  it('names the last words, and the errors of all turns of that agent, oldest first and each once', () => {
    const other = { ...ERROR, input: 'git add' };
    const found = explained([
      { text: 'first', toolErrors: [other, ERROR] },
      { text: 'second', toolErrors: [ERROR] },
      { text: 'I give up' },
    ]);
    expect(taskFailureSchema.parse(found)).toMatchObject({
      agent: 'bob',
      lastWords: 'I give up',
      errors: [other, ERROR],
    });
  });

  it('quotes the model only, and says how the turn ended beside it unless the reason does', () => {
    const failure = { kind: 'crashed', message: 'it fell over', mayHaveActed: true } as const;
    expect(explained([{ outcome: 'failed', text: '', failure }])).toMatchObject({
      lastWords: null,
      ended: 'it fell over',
    });
    expect(explained([{ outcome: 'failed', text: 'Writing', failure }])).toMatchObject({
      lastWords: 'Writing',
      ended: 'it fell over',
    });
    expect(explained([])).toMatchObject({ agent: null, lastWords: null, errors: [], work: null });
  });

  it('names what was denied once, with its path where that is known', () => {
    const denied = { tool: 'Write', input: 'a.txt', output: 'refused', denied: true };
    const denials = [{ tool: 'Write', message: 'refused' }, { tool: 'Bash' }];
    expect(explained([{ toolErrors: [denied], denials }])?.errors).toEqual([
      { tool: 'Bash', input: '', output: '', denied: true },
      denied,
    ]);
  });

  it.each<[string, readonly [string, string][], string | undefined]>([
    ['nothing is kept', [], undefined],
    [
      'the newest one counts',
      [
        ['a-1', HEAD],
        ['a-10', HEAD],
        ['a-9', HEAD],
      ],
      'a-10',
    ],
    [
      'what was there before a reset counts after the attempt itself',
      [
        ['a-2-before', HEAD],
        ['a-2', HEAD],
      ],
      'a-2',
    ],
    [
      'what is as the base has it is no work',
      [
        ['a-2', BASE],
        ['a-1', HEAD],
      ],
      'a-1',
    ],
    [
      'another task of a similar name is not meant',
      [
        ['a-b-2', HEAD],
        ['a-1-1', HEAD],
        ['a-left', HEAD],
      ],
      undefined,
    ],
  ])('of the refs of a run: %s', (_what, refs, expected) => {
    const kept = refs.map(([name, commit]) => ({ ref: `refs/squad/tidy/${name}`, commit }));
    const work = explained([{}], { kept })?.work;
    expect(work?.ref).toBe(expected === undefined ? undefined : `refs/squad/tidy/${expected}`);
    if (work) expect(work.show).toBe(`git log --patch ${BASE.slice(0, 12)}..${work.ref}`);
  });

  it('makes everything printable and short, whatever an agent wrote', () => {
    const evil = `\u001b[2J\u202e${'x'.repeat(100_000)}`;
    const found = explained([{ text: evil, toolErrors: [{ tool: evil, input: evil, output: evil, denied: true }] }]);
    const text = JSON.stringify(found);
    expect(text.length).toBeLessThan(4_000);
    expect(text).not.toMatch(/[\u001b\u202e]/);
    for (const line of failureLines(found === undefined ? [] : [found])) expect(line).toMatch(/^[^\n\u001b]{1,700}$/);
  });

  it('keeps the parts of a reason apart on one line', () => {
    const found = explained([]);
    const lines = failureLines(
      found === undefined ? [] : [{ ...found, why: 'no form:\nthere is no b\nthere is no c' }],
    );
    expect(lines[0]).toBe('failed    a — Do a: no form: there is no b; there is no c');
  });

  it('tells a task that was cancelled with another one there, in terminal, report and status alike', () => {
    const about = definition();
    const script = {
      plan: chainOf('a', 'b', 'c', 'd'),
      turn: ({ task }: { task: string }) => (task === 'a' ? failed('bad-request') : undefined),
    };
    const run = new RecordedRun(about).allocate().plan(play(about, script).entries);
    const reading = run.read();
    const failures = failuresOf(reading, []);
    expect(failures).toMatchObject([{ task: 'a', as: 'failed', cancelled: ['b', 'c', 'd'] }]);
    const once = '3 tasks that need it were cancelled';
    const report = renderReport(reading, 9e9);
    const status = renderStatus(statusOf(viewOf(reading, { now: 9e9 })), 9e9);
    for (const shown of [failureLines(failures).join('\n'), report, status]) {
      expect(shown).toContain(`${once}: b, c, d`);
      expect(shown).not.toContain('which failed');
    }
    expect(report).not.toMatch(/`c`/);
    expect(report).toMatch(/`a` +\| Do a +\| failed; 3 tasks that need it were cancelled/);
    expect(status).not.toContain('Do c');
    const lines = openRunEvents(run.ledger, run.id)
      .look()
      .flatMap((event) => renderRunEvent(event) ?? []);
    expect(lines.filter((line) => line.includes('cancelled')).map((line) => line.slice(0, 9))).toEqual([]);
  });

  it('shows what the reviewers said in every round of a last rejection, and names the file with all of it', () => {
    const about = definition();
    let round = 0;
    const script = {
      turn: ({ review }: { review: string | null }) => {
        if (review !== null) round += 1;
        return review === null
          ? undefined
          : rejects(`no test ${'abcd'[round - 1] ?? ''}\u001b[31m${'x'.repeat(5_000)}`);
      },
    };
    const reading = new RecordedRun(about).allocate().plan(play(about, script).entries).read();
    const rejections = rejectionsOf(reading.board, reading.row.id);
    expect(rejections).toMatchObject([{ stage: 'a', task: 'a', rounds: { length: 4 } }]);
    for (const one of rejections) expect(rejectionSchema.parse(one)).toEqual(one);
    const file = '.squad/runs/id-tidy/failures/a.md';
    const status = renderStatus(statusOf(viewOf(reading, { now: 9e9 })), 9e9);
    for (const shown of [rejectionLines(rejections).join('\n'), status, renderReport(reading, 9e9)]) {
      for (const letter of 'abcd') expect(shown).toContain(`no test ${letter}`);
      expect(shown).toContain(file);
      expect(shown).not.toContain('\u001b');
    }
    for (const line of rejectionLines(rejections)) expect(line).toMatch(/^[^\n]{1,500}$/);
  });

  it('leaves out what was delivered', () => {
    const about = definition();
    const state = new RecordedRun(about).allocate().plan(play(about).entries).read().board.tasks.get('a')!;
    expect(explainFailure({ run: 'tidy', state, turns: [], kept: [], cancelled: [], base: BASE })).toBeUndefined();
  });

  it('offers a rejected task to a person too', () => {
    const about = definition();
    const script = { turn: ({ review }: { review: string | null }) => (review === null ? undefined : rejects('no')) };
    const state = new RecordedRun(about).allocate().plan(play(about, script).entries).read().board.tasks.get('a')!;
    expect(explainFailure({ run: 'tidy', state, turns: [], kept: [], cancelled: [], base: BASE })?.next).toEqual([
      'squad retry a --run tidy',
      'squad override a done --run tidy --reason "I read it myself"',
    ]);
  });

  it.each(['sprint', 'plan-requests'])(
    'names no command that would open a run of %s again once it is over',
    (playbook) => {
      const about = definition();
      const script = { turn: ({ task }: { task: string }) => (task === 'a' ? failed('bad-request') : undefined) };
      const reading = new RecordedRun(about).allocate().plan(play(about, script).entries).read();
      const next = (finished: typeof reading.board.finished) =>
        failuresOf({ ...reading, definition: { ...about, playbook }, board: { ...reading.board, finished } }, []).map(
          (failure) => failure.next,
        );
      expect(reading.board.finished).not.toBeNull();
      expect(next(reading.board.finished)).toEqual([[]]);
      expect(next(null)).toEqual([['squad retry a --run tidy']]);
    },
  );
});
