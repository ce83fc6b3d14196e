import type { PlanEvent } from '../../src/model/plan/event.ts';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { runStatusSchema } from '../../src/view/status.ts';
import { failed } from '../playbooks/simulator.ts';
import { definition, planOf, play, RecordedRun } from '../view/report/support.ts';
import type { EngineRoom } from '../support/engine.ts';
import { commandRoom, expectSound, roomForTest } from './room.ts';
import { newStateOf } from '../support/state.ts';

const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
const EVIL = '\u001b[2J\u001b]0;owned\u0007\u202eevil';

/** A run in this room's own ledger. Its lock is held, as an engine's, until it is closed. */
function record(room: EngineRoom, about = definition()): RecordedRun {
  return new RecordedRun(about, newStateOf(room.repository));
}

/** Waits for a person: agents cannot log in. */
function asking(room: EngineRoom, accounts: number): RecordedRun {
  const about = definition();
  const plan = planOf(...['a', 'b'].slice(0, accounts));
  const played = play(about, { plan, turn: ({ task }) => (task === 'plan' ? undefined : failed('auth')) });
  expect(played.end.next).toBe('ask');
  return record(room, about).allocate().plan(played.entries).decide('ask', played.end.why);
}

describe('where nothing ever ran', () => {
  it.each(['status', 'status --json', 'report', 'answer yes', 'clean', 'clean --all', 'clean --dry-run'])(
    '%s says so and makes nothing',
    async (words) => {
      const room = commandRoom();
      const run = await room.run(words.split(' '));
      expect(run.stderr).toBe('squad: there is no run here yet\nNext: Start one: `squad run objective.md`.\n');
      expect(run).toMatchObject({ code: 2 });
      if (words.endsWith('--json')) expect(run.lines).toMatchObject([{ type: 'error', code: 'usage', exitCode: 2 }]);
      else expect(run.stdout).toBe('');
      expect(readdirSync(room.repository).toSorted()).toEqual(['.git', 'readme.md']);
    },
  );

  it.each(['status', 'report', 'clean'])('%s of a run that nobody knows is a usage error', async (words) => {
    const room = commandRoom();
    record(room).close();
    const run = await room.run([words, 'nobody']);
    expect(run.stderr).toMatch(/no run is called nobody\nNext: There is: tidy\./);
    expect(run.code).toBe(2);
  });

  it.each([
    ['status', /Example:\n {2}squad status/],
    ['answer', /Example:\n {2}squad answer "try again"\n {2}squad answer engine/],
    ['report', /Example:\n {2}squad report/],
    ['clean', /Example:\n {2}squad clean --all --dry-run/],
  ])('%s --help has an example', async (words, expected) => {
    expect((await roomForTest().run([words, '--help'])).stdout).toMatch(expected);
  });
});

describe('squad status', () => {
  it('is one object of the public shape', async () => {
    const room = commandRoom();
    const about = definition();
    record(room, about).allocate().plan(play(about).entries).publish().close();
    const run = await room.run(['status', '--json']);
    expect(run.lines).toHaveLength(1);
    expect(runStatusSchema.parse(run.lines[0])).toMatchObject({ name: 'tidy', phase: 'finished', outcome: 'done' });
    expect(run).toMatchObject({ code: 0, stderr: '' });
  });

  it('is a board for people', async () => {
    const room = commandRoom();
    const about = definition();
    record(room, about).allocate().plan(play(about).entries).publish().close();
    const { stdout } = await room.run(['status', 'tidy']);
    expect(stdout).toMatch(
      /^tidy {2}done {2}Tidy up\n {2}DONE, 1 of 1 criterion judged by rex, not run\n {2}0s of 1h00m · 0 turns · 0 tokens in, 0 out · USD 0\.00\n/,
    );
    expect(stdout).toMatch(/^ {2}done +a +round 1, 1 attempt +Do a$/m);
    expect(stdout).toMatch(
      /^ {2}judged {7}it is tidy {2}\(rex: src\/a\.ts:1 at m-c1-a has “it is there”: it is there\)$/m,
    );
    expect(stdout).toMatch(/\nNext: squad report tidy\n$/);
  });

  it('tells a live engine from a dead one that left its name', async () => {
    const room = commandRoom();
    const run = record(room).allocate().turn('a', 1, 'bob');
    expect((await room.run(['status', '--json'])).lines).toMatchObject([{ phase: 'running', waitingFor: null }]);
    const name = join(run.directory, 'lock.json');
    const left = readFileSync(name);
    run.close();
    writeFileSync(name, left);
    expect((await room.run(['status', '--json'])).lines).toMatchObject([
      { phase: 'stopped', waitingFor: { for: 'resume', why: 'its engine is gone' } },
    ]);
    expect((await room.run(['status'])).stdout).toMatch(/\nNext: squad resume tidy\n$/);
  });

  it('does not stand in the way of an engine', async () => {
    const room = commandRoom();
    const run = record(room);
    await room.run(['status']);
    expect(run.lock.isHeld()).toBe(true);
    expect((await room.run(['clean'])).code).toBe(75);
  });

  it('shows nothing that a terminal obeys', async () => {
    const room = commandRoom();
    const about = definition({ title: EVIL, criteria: [{ text: EVIL, done: false, line: 1 }] });
    const run = record(room, about).plan(play(about).entries.slice(0, 1));
    const ask: PlanEvent = {
      type: 'mail',
      seq: 1,
      at: 1,
      id: EVIL,
      from: EVIL,
      to: ['MAIN'],
      kind: 'ask',
      action: 'clarify',
      body: { question: EVIL },
    };
    run
      .plan([{ entry: 'event', seq: 1, at: 1, event: ask }])
      .decide('ask', EVIL)
      .close();
    const { stdout } = await room.run(['status']);
    expect(stdout).toContain('evil');
    expect(stdout).not.toMatch(OBEYED);
    expect((await room.run(['report'])).stdout).not.toMatch(OBEYED);
  });
});

describe('squad answer', () => {
  const BOB = 'engine/auth/account-bob';

  it.each<[string, number, string[], object]>([
    ['one word to the only question', 1, ['try again'], { question: BOB, answer: 'try again' }],
    ['the id first, then words', 2, [BOB, 'give', 'up'], { question: BOB, answer: 'give up' }],
    ['as the question spells it', 1, ['Try Again'], { question: BOB, answer: 'try again' }],
  ])('takes %s', async (_title, accounts, words, expected) => {
    const room = commandRoom();
    const run = asking(room, accounts);
    run.ledger.releaseLease(run.lease);
    run.close();
    const answered = await room.run(['answer', ...words, '--json'], { USER: 'eve' });
    expect(answered).toMatchObject({ code: 0, stderr: '' });
    expect(answered.lines).toMatchObject([{ type: 'answered', runId: run.id, driven: false, ...expected }]);
    const ledger = room.ledger();
    const command = ledger.events({ stream: run.id }).at(-1);
    ledger.close();
    expect(command).toMatchObject({ type: 'operator-command', data: { verb: 'answer', data: expected, by: 'eve' } });
    expectSound(room);
  });

  it.each<[string, number, string[], RegExp]>([
    ['one word for two questions', 2, ['try again'], /2 open questions[^]*Next: Open: engine\/auth\/account-bob, /],
    [
      'an id that nobody asked',
      1,
      ['nonsense', 'go'],
      /no open question nonsense\nNext: Open: engine.*quote the words/,
    ],
    ['what is no option', 1, ['perhaps'], /perhaps is not an option of engine.*\nNext: One of: "try again", "give up"/],
    ['nothing', 1, [' '], /the answer to engine\/auth\/account-bob is empty/],
    ['no word at all', 1, [], /the answer is missing/],
    [
      'paths for a question that no task with planned paths asks',
      1,
      ['--paths', 'lib', 'try again'],
      /account-bob comes from no task that is kept to planned paths.*\nNext: Answer without --paths/,
    ],
  ])('refuses %s, and writes nothing', async (_title, accounts, words, expected) => {
    const room = commandRoom();
    const run = asking(room, accounts);
    const before = run.ledger.lastSeq();
    run.close();
    const refused = await room.run(['answer', ...words]);
    expect(refused.stderr).toMatch(expected);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    const ledger = room.ledger();
    expect(ledger.lastSeq()).toBe(before);
    ledger.close();
  });

  it('is given once, and resume comes next', async () => {
    const room = commandRoom();
    asking(room, 1).close();
    const first = await room.run(['answer', 'try again']);
    expect(first.stdout).toBe(`answered  ${BOB}: try again\nNext: squad resume tidy\n`);
    const second = await room.run(['answer', 'give up']);
    expect(second.stderr).toMatch(
      /already has an answer: try again\nNext: If no engine is running, continue with `squad resume tidy`/,
    );
    expect(second.code).toBe(2);
  });

  it('tells what is still open, and no next step while an engine runs', async () => {
    const room = commandRoom();
    asking(room, 2);
    const { stdout } = await room.run(['answer', BOB, 'try again', '--run', 'tidy']);
    expect(stdout).toMatch(
      /^answered {2}engine\/auth\/account-bob: try again\nopen {6}engine\/auth\/account-cyd: .+\n$/,
    );
  });

  it('has nothing to answer in a run that asks nothing', async () => {
    const room = commandRoom();
    record(room).close();
    const run = await room.run(['answer', 'yes']);
    expect(run.stderr).toMatch(/tidy has no open question\nNext: .*squad status tidy/);
    expect(run.code).toBe(2);
  });
});

describe('squad report', () => {
  function withFile(room: EngineRoom, released: boolean): RecordedRun {
    const run = record(room).allocate().publish();
    if (released) run.ledger.releaseLease(run.lease);
    const folder = join(run.directory, 'runs', run.id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'report.md'), `# From the file ${EVIL}\n`);
    return run;
  }

  it('prints the file that the engine left, with nothing that a terminal obeys', async () => {
    const room = commandRoom();
    const run = withFile(room, true);
    run.close();
    const printed = await room.run(['report']);
    expect(printed.stdout).toMatch(/^# From the file /);
    expect(printed.stdout).not.toMatch(OBEYED);
    const [json] = (await room.run(['report', '--json'])).lines;
    expect(json).toMatchObject({
      type: 'report',
      runId: run.id,
      path: join(run.directory, 'runs', run.id, 'report.md'),
    });
    expect(json?.['text']).toMatch(/^# From the file/);
  });

  it.each([
    ['an engine runs', false],
    ['its engine died after the file was written', true],
  ])('is rendered from the ledger while %s', async (_title, dead) => {
    const room = commandRoom();
    const run = withFile(room, false);
    if (dead) run.close();
    const [json] = (await room.run(['report', '--json'])).lines;
    expect(json).toMatchObject({ path: null, text: expect.stringMatching(/^# Tidy up\n/) });
  });

  it('is rendered where there is no file', async () => {
    const room = commandRoom();
    const run = record(room).allocate().publish();
    run.ledger.releaseLease(run.lease);
    run.close();
    expect((await room.run(['report', 'tidy'])).stdout).toMatch(/^# Tidy up\n/);
  });

  it('makes the page of an older run, once, and prints its path', async () => {
    const room = commandRoom();
    const run = withFile(room, true);
    run.close();
    const path = join(run.directory, 'runs', run.id, 'report.html');
    const made = await room.run(['report', 'tidy', '--html']);
    expect(made).toMatchObject({ code: 0, stdout: `${path}\n`, stderr: '' });
    expect(readFileSync(path, 'utf8')).toMatch(/^<!doctype html>[^]*<h1>Tidy up<\/h1>[^]*<\/html>\n$/);
    writeFileSync(path, 'as the engine left it');
    const [json] = (await room.run(['report', '--html', '--json'])).lines;
    expect(json).toEqual({ type: 'report-page', runId: run.id, name: 'tidy', path });
    expect(readFileSync(path, 'utf8')).toBe('as the engine left it');
    expect(readdirSync(join(path, '..')).toSorted()).toEqual(['report.html', 'report.md']);
  });

  it('makes the page anew while an engine runs, without what git has', async () => {
    const room = commandRoom();
    const run = withFile(room, false);
    const path = join(run.directory, 'runs', run.id, 'report.html');
    writeFileSync(path, 'of the engine before');
    expect((await room.run(['report', '--html'])).stdout).toBe(`${path}\n`);
    expect(readFileSync(path, 'utf8')).toContain('<h1>Tidy up</h1>');
    expect(run.lock.isHeld()).toBe(true);
  });

  it('leaves damaged history to the check', async () => {
    const room = commandRoom();
    const run = record(room);
    run.ledger.append(run.id, RUN_EVENTS.published, null);
    run.close();
    const printed = await room.run(['report']);
    expect(printed.stderr).toMatch(/event \d+ \(run-published\) cannot be read[^]*Next: Run `squad db check`/);
    expect(printed.code).toBe(65);
    expect(existsSync(join(run.directory, 'runs'))).toBe(false);
  });
});

describe('squad log', () => {
  it('names what entries of the plan are about', async () => {
    const room = commandRoom();
    const about = definition();
    record(room, about).plan(play(about).entries).close();
    const { stdout } = await room.run(['log', '--raw']);
    expect(stdout).toMatch(/run-defined {2}Tidy up \(delivery, objective\.md\)$/m);
    expect(stdout).toMatch(/plan-entry {2}put plan, add-task plan$/m);
    expect(stdout).toMatch(/plan-entry {2}a attempt-started a-1 by bob$/m);
    expect(stdout).toMatch(/plan-entry {2}finish done: all work is delivered$/m);
    expect(stdout).toMatch(/plan-entry {2}gate-checked m-c1-a, passed$/m);
  });
});
