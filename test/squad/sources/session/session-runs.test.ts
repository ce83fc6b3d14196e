// @module-tag all
import { appendFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compose } from '../../../../src/engine/compose.ts';
import { SESSION } from '../../../../src/model/playbook-name.ts';
import { RUN_EVENTS, type PublishFacts } from '../../../../src/model/run.ts';
import { PLAYED } from '../../../../src/model/playbook-name.ts';
import { createSessionPlaybook } from '../../../../src/playbooks/session/index.ts';
import { readSession } from '../../../../src/squad/sources/session/read-session.ts';
import { intervene } from '../../../../src/squad/intervene.ts';
import { readStatus } from '../../../../src/squad/status.ts';
import { refuseChanged } from '../../../../src/squad/sources/session/session-source.ts';
import { admitRun, folderRuns } from '../../../../src/squad/folder-runs.ts';
import { resume } from '../../../../src/squad/run.ts';
import {
  othersThan,
  playedSince,
  refuseSecondRun,
  refuseTaken,
  tasksByRun,
  waysOn,
  type LeftWork,
} from '../../../../src/squad/sources/session/session-runs.ts';
import { inspectRepository } from '../../../../src/substrate/git/inspect-repository.ts';
import { plainJson } from '../../../../src/text/json.ts';
import { rejects } from '../../../playbooks/simulator.ts';
import { sessionFrom } from '../../../playbooks/session/support.ts';
import { definition, play, RecordedRun } from '../../../view/report/support.ts';
import { createRepository, git } from '../../../support/git.ts';
import { DIAMOND, writeSession } from '../../../support/session-folder.ts';
import { snapshot } from '../../../support/snapshot.ts';
import { testHost } from '../../../support/test-host.ts';
import { newStateOf } from '../../../support/state.ts';

const retryOf = (name: string) => `squad retry a --run ${name}`;
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

describe('the run that has played a folder since another one began', () => {
  const did = (id: string, ...slugs: string[]) => ({
    ...run(id),
    board: { records: new Map([[PLAYED, new Map(slugs.map((slug) => [slug, {}]))]]) },
  });
  it.each<[string, ReturnType<typeof did>[], string, string | undefined]>([
    ['is the newest with a task', [did('d'), did('c', 'x'), did('b', 'x'), did('a')], 'a', 'c'],
    ['is none that did nothing', [did('b'), did('a', 'x')], 'a', undefined],
    ['is no older one', [did('b'), did('a', 'x')], 'b', undefined],
    ['is none for a new run', [did('a', 'x')], 'new', undefined],
  ])('%s', (_, runs, id, played) => {
    expect(playedSince(runs, id)?.row.id).toBe(played);
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
    board: { records: new Map([[PLAYED, new Map(slugs.map((slug) => [slug, {}]))]]) },
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

describe('what a person can do about work that is not in the checked-out commit', () => {
  const failed = { hasFailed: true, failed: 'b' };
  it.each<[string, Partial<LeftWork>, string[]]>([
    ['of a run that is done', {}, ['Merge it: `squad merge first`.']],
    [
      'of a failed run',
      failed,
      ['Try b again: `squad retry b --run first`.', 'Or merge what is done: `squad merge first --unverified`.'],
    ],
    ['of a failed run without a failed task', { hasFailed: true }, ['Merge it: `squad merge first --unverified`.']],
    [
      'of a failed run that cannot be opened again',
      { ...failed, isNewest: false },
      ['Merge it: `squad merge first --unverified`.'],
    ],
    [
      'of a failed run whose branch was dropped',
      { ...failed, isThere: false },
      ['Merge it: `git branch squad/first abc`, then `squad merge first --unverified`.'],
    ],
    [
      'of a branch that was dropped',
      { isThere: false },
      ['Merge it: `git branch squad/first abc`, then `squad merge first`.'],
    ],
  ])('%s', (_, more, ways) => {
    const run = { name: 'first', head: 'abc', isThere: true, hasFailed: false, failed: undefined, isNewest: true };
    expect(waysOn({ ...run, ...more })).toEqual(ways);
  });
});

function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-session-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createRepository(join(root, 'repository'), {});
  return { root, host: testHost(root, { workingDirectory: repository }), directory: newStateOf(repository) };
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
    const here = {
      directory,
      composition: compose(host),
      repository: { root: host.workingDirectory, commonDirectory: join(host.workingDirectory, '.git') },
    };
    expect(() => admitRun(here, { id: 'id-new', definition: about })).toThrow(expect.objectContaining(refused));
    expect(() => admitRun(here, { id: 'id-second', definition: about })).not.toThrow();
  });

  it('is no place to open an older run again once a newer one has done tasks there', async () => {
    const { root, host, directory } = place();
    const about = { ...definition(), folder: join(root, 'team') };
    const { entries, end } = play(about, { turn: ({ review }) => (review === null ? undefined : rejects('no')) });
    const finished = (name: string, more: typeof entries = [], summary?: PublishFacts['summary']): void => {
      const one = new RecordedRun({ ...about, name }, directory).allocate();
      one
        .plan([...entries, ...more])
        .decide('finish', end.why)
        .publish({ summary });
      one.ledger.releaseLease(one.lease);
      one.close();
    };
    const retry = { verb: 'retry', task: 'a' } as const;
    finished('first');
    finished('idle');
    await expect(intervene({ host }, 'first', retry, { key: 'one' })).resolves.toMatchObject({ needs: 'resume' });
    const did = [
      { entry: 'changes' as const, seq: 0, at: 0, changes: [{ do: 'put' as const, in: PLAYED, id: 'b', value: {} }] },
    ];
    finished('second', did);
    const path = join(root, 'team');
    await expect(intervene({ host }, 'idle', retry)).rejects.toMatchObject({ code: 'workspace-busy' });
    const here = {
      directory,
      composition: compose(host),
      repository: { root: host.workingDirectory, commonDirectory: join(host.workingDirectory, '.git') },
    };
    expect(() => admitRun(here, { id: 'id-first', definition: { ...about, name: 'first' } })).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `first cannot continue: the newer run second has played ${path}, and its work would be written over`,
        next: `Give it up with \`squad cancel first\`. Play what is left with \`squad run --session=${path}\`.`,
      }),
    );
    await intervene({ host }, 'first', { verb: 'cancel' });
    await expect(intervene({ host }, 'idle', retry)).rejects.toMatchObject({
      code: 'usage',
      message: `idle cannot be opened again: the newer run second has played ${path}, and its work would be written over`,
      next: `Play what is left with \`squad run --session=${path}\`.`,
    });
    expect(await readStatus({ host }, 'idle')).toMatchObject({
      failures: [{ next: ['squad status second'] }],
      next: ['squad status second'],
    });
    expect(await readStatus({ host }, 'second')).toMatchObject({
      failures: [{ next: [retryOf('second'), expect.anything()] }],
    });
    await expect(intervene({ host }, 'second', retry)).resolves.toMatchObject({ needs: 'resume' });
    await intervene({ host }, 'second', { verb: 'cancel' });
    finished('third', did, { outcome: 'done', headline: 'PLAYED', tasks: { all: 1, done: 1 } });
    await expect(intervene({ host }, 'idle', retry)).rejects.toMatchObject({
      next: 'Nothing is left to play: `squad merge third` takes over its work, if you have not done that yet.',
    });
    expect(await readStatus({ host }, 'idle')).toMatchObject({ next: ['squad status third'] });
  });

  it('stays as a newer run has left it where an older one only has to end', async () => {
    const { root, host, directory } = place();
    writeSession(join(root, 'team'), DIAMOND);
    const { session, path: folder } = await readSession('team', root);
    const repository = { ...definition().repository, base: git(join(root, 'repository'), 'rev-parse', 'HEAD') };
    const about = { ...definition(), folder, repository };
    const from = {
      run: 'first',
      section: undefined,
      limits: about.limits,
      publish: undefined,
      roles: [],
      objective: { criteria: [] },
    };
    const options = createSessionPlaybook(session).options?.(from) ?? {};
    const [agent] = about.agents;
    const agents = session.roles.flatMap(({ slug }) =>
      agent === undefined ? [] : { ...agent, name: slug, role: slug },
    );
    const first = new RecordedRun({ ...about, name: 'first', playbook: SESSION, options, agents }, directory);
    first.ledger.releaseLease(first.lease);
    first.close();
    const { entries, end } = play(about, { turn: ({ review }) => (review === null ? undefined : rejects('no')) });
    const second = new RecordedRun({ ...about, name: 'second' }, directory).allocate(repository.base);
    second
      .plan([...entries, { entry: 'changes', seq: 0, at: 0, changes: [{ do: 'put', in: PLAYED, id: 'b', value: {} }] }])
      .decide('finish', end.why)
      .publish();
    second.ledger.releaseLease(second.lease);
    second.close();
    const before = snapshot(folder);
    await expect(resume({ host }, 'first', { trust: 'yes' })).rejects.toMatchObject({
      code: 'usage',
      next: expect.stringContaining('`squad cancel first`'),
    });
    await expect(intervene({ host }, 'first', { verb: 'cancel' })).resolves.toMatchObject({ needs: 'resume' });
    const ended = await (await resume({ host }, 'first', { trust: 'yes' })).done;
    expect(ended).toMatchObject({ outcome: 'cancelled' });
    expect(snapshot(folder)).toEqual(before);
    await expect(resume({ host }, 'first', { trust: 'yes' })).rejects.toMatchObject({ message: 'run first is over' });
    expect(
      refuseSecondRun(
        folderRuns({
          directory,
          composition: compose(host),
          repository: { root: host.workingDirectory, commonDirectory: join(host.workingDirectory, '.git') },
        }),
        folder,
      ),
    ).toHaveLength(2);
  });

  it('is played by no new run while the files of the newest one are not complete', async () => {
    const { root, host, directory } = place();
    const given = { ...(await readSession(writeSession(join(root, 'team'), DIAMOND), root)), folder: 'team' };
    const about = { ...definition(), folder: given.path, options: plainJson({ session: given.session }) };
    const first = new RecordedRun(about, directory).allocate();
    const { entries, end } = play(about);
    first.plan(entries).decide('finish', end.why).publish();
    first.ledger.note(first.lease, RUN_EVENTS.folder, { sink: 'session', folder: given.path, problem: 'it is gone' });
    first.ledger.releaseLease(first.lease);
    first.close();
    const composition = compose(host);
    const repository = await inspectRepository(composition.git, host.workingDirectory);
    await expect(
      refuseTaken(folderRuns({ directory, composition, repository }), repository, given),
    ).rejects.toMatchObject({
      code: 'wrong-environment',
      message: `run tidy has played ${given.path}, but the files there are not complete: it is gone`,
      next: 'Write them with `squad resume tidy`; then the new run does only what is left.',
    });
    const other = { ...given, session: { ...given.session, id: 'another' } };
    await expect(
      refuseTaken(folderRuns({ directory, composition, repository }), repository, other),
    ).resolves.toBeUndefined();
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
