import { appendFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compose } from '../../src/compose.ts';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { DONE } from '../../src/playbooks/session/session-records.ts';
import { readSession } from '../../src/preflight/read-session.ts';
import { intervene } from '../../src/squad/intervene.ts';
import { refuseChanged, tasksByRun } from '../../src/preflight/subject.ts';
import { othersThan, refuseWithOther } from '../../src/squad/session-runs.ts';
import { plainJson } from '../../src/text/json.ts';
import { rejects } from '../playbooks/simulator.ts';
import { sessionFrom } from '../playbooks/session/support.ts';
import { definition, play, RecordedRun } from '../report/support.ts';
import { createRepository } from '../support/git.ts';
import { DIAMOND, writeSession } from '../support/session-folder.ts';
import { testHost } from '../support/test-host.ts';

const run = (id: string, driven = false) => ({ row: { id }, driven });

describe('the runs that keep a run from going on', () => {
  it.each<[string, ReturnType<typeof run>[], string, string[]]>([
    ['all others, if it is new', [run('b'), run('a')], 'new', ['b', 'a']],
    ['a newer one', [run('b'), run('a')], 'a', ['b']],
    ['no older one, or neither could go on', [run('b'), run('a')], 'b', []],
    ['an older one that has an engine', [run('b'), run('a', true)], 'b', ['a']],
    ['never itself', [run('a', true)], 'a', []],
  ])('%s', (_, runs, id, others) => {
    expect(othersThan(runs, id).map(({ row }) => row.id)).toEqual(others);
  });
});

describe('the tasks whose work a run has', () => {
  const about = {
    roles: [
      { name: 'reader', responsibility: ' Read-Only ' },
      { name: 'maker', responsibility: 'code-gen' },
    ],
    tasks: [
      { id: 'READ', role: 'reader' },
      { id: 'ONE', role: 'maker' },
      { id: 'TWO', role: 'maker' },
    ],
  };
  const did = (...slugs: string[]) => ({
    board: { records: new Map([[DONE, new Map(slugs.map((slug) => [slug, {}]))]]) },
  });
  it.each<[string, ReturnType<typeof did>[], string[], string[][]]>([
    ['are those that it did', [did('one')], ['ONE', 'TWO'], [['ONE']]],
    ['are none that a person ticked off', [did()], ['ONE', 'TWO'], [[]]],
    ['are none that a newer run did again', [did('one'), did('one', 'two')], ['ONE', 'TWO'], [['ONE'], ['TWO']]],
    ['are none that do not count', [did('one', 'two')], ['TWO'], [['TWO']]],
    ['are none of a role that only reads', [did('read', 'one')], ['READ', 'ONE'], [['ONE']]],
  ])('%s', (_, runs, done, tasks) => {
    expect(tasksByRun(runs, sessionFrom({ ...about, done })).map((one) => one.tasks)).toEqual(tasks);
  });
});

function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-session-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createRepository(join(root, 'repository'), {});
  return { root, host: testHost(root, { workingDirectory: repository }), directory: join(repository, '.squad') };
}

describe('a folder that another run plays', () => {
  it('is no place to open a finished run again, or to begin one', async () => {
    const { root, host, directory } = place();
    const about = { ...definition(), folder: join(root, 'team') };
    const first = new RecordedRun(about, directory).allocate();
    const { entries, end } = play(about, { turn: ({ review }) => (review === null ? undefined : rejects('no')) });
    first.plan(entries).decide('finish', end.why).publish();
    first.ledger.releaseLease(first.lease);
    const retry = { verb: 'retry', task: 'a' } as const;
    first.ledger.createRun({ id: 'id-second', name: 'second' });
    first.ledger.append('id-second', RUN_EVENTS.defined, plainJson({ ...about, name: 'second' }));
    first.close();
    const refused = {
      code: 'workspace-busy',
      message: expect.stringMatching(/^run second plays \S+team and is not over/),
    };
    await expect(intervene({ host }, about.name, retry)).rejects.toMatchObject(refused);
    const here = { directory, composition: compose(host) };
    expect(() => refuseWithOther(here, 'id-new', about)).toThrow(expect.objectContaining(refused));
    expect(() => refuseWithOther(here, 'id-second', about)).not.toThrow();
  });

  it('has to be as squad read it', async () => {
    const { root } = place();
    writeSession(join(root, 'team'), DIAMOND);
    const { session, path } = await readSession('team', root);
    const about = { ...definition(), folder: path, options: plainJson({ session }) };
    await refuseChanged(about);
    appendFileSync(join(path, 'team-session.json'), '\n');
    await expect(refuseChanged(about)).rejects.toMatchObject({ code: 'workspace-busy' });
  });
});
