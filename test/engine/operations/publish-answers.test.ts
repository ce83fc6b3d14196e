import { describe, expect, it } from 'vitest';
import type { Board } from '../../../src/model/plan/board.ts';
import { RUN_EVENTS, type RunDefinition } from '../../../src/model/run.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import { publishWork } from '../../../src/engine/sinks/sinks.ts';
import { allocateWorkspace, publishRun, pushRun } from '../../../src/engine/operations/publish-run.ts';
import { pullRequestText } from '../../../src/model/pull-request-text.ts';
import type { Forge } from '../../../src/substrate/ports/forge.ts';
import type { ListedFolder, Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { endedAs, stateOf } from '../../rules/support.ts';
import type { Json } from '../../../src/text/json.ts';
import { openInMemory, withGit } from './in-memory.ts';

interface Noted {
  readonly stream: string;
  readonly type: string;
  readonly data: Json;
}

type Query = { stream?: string; types?: readonly string[]; limit?: number };

describe('the run branch', () => {
  const open = (earlier: readonly Noted[] = [], more: Partial<RunDefinition> = {}) => {
    const { ports: bare, base } = openInMemory();
    const events = [...earlier];
    const made: unknown[] = [];
    const git: Partial<Workspaces> = {
      createRunBranch: async (...order) => {
        made.push(order);
        return { type: 'ready' };
      },
      keepAttempt: async (...order) => void made.push(order),
    };
    const ledger = {
      events: ({ stream, types, limit }: Query) =>
        events
          .filter((one) => one.stream === (stream ?? one.stream) && types?.includes(one.type) !== false)
          .slice(0, limit),
      note: (_: unknown, type: string, data: Json) => events.push({ stream: 'id', type, data }),
    };
    const definition = { ...bare.definition, ...more };
    const ports = { ...withGit(bare, git), definition, ledger, lease: { runId: 'id' } } as unknown as OperationPorts;
    return { ports, base, events, made };
  };
  const forked = { parent: { runId: 'p', seq: 1 }, head: 'h', kept: [{ attempt: 'a-1', commit: 'c' }], pins: ['p'] };

  it('begins at the base commit, once', async () => {
    const { ports, base, events, made } = open();
    await allocateWorkspace(ports);
    await allocateWorkspace(ports);
    expect(made).toEqual([['tidy', base, [], 'id']]);
    const data = { branch: 'squad/tidy', base };
    expect(events).toEqual([{ stream: 'id', type: RUN_EVENTS.workspaceAllocated, data }]);
  });

  it('is not named by a run that makes none', async () => {
    const { ports, base, events } = open([], { makesBranch: false });
    await allocateWorkspace(ports);
    expect(events.map(({ data }) => data)).toEqual([{ base }]);
  });

  it('of a fork begins at the work of its parent, and keeps its commits', async () => {
    const other = { stream: 'other', type: RUN_EVENTS.workspaceAllocated, data: null };
    const { ports, made } = open([
      ...[other, { stream: 'other', type: RUN_EVENTS.forked, data: { ...forked, head: 'wrong' } }],
      ...[
        { stream: 'id', type: RUN_EVENTS.defined, data: null },
        { stream: 'id', type: RUN_EVENTS.forked, data: forked },
      ],
    ]);
    await allocateWorkspace(ports);
    expect(made).toEqual([
      ['tidy', 'h', ['p'], 'id'],
      ['tidy', 'a-1', 'c'],
    ]);
  });

  it('that is there already stays, and its person is told how to keep both', async () => {
    const { ports } = open();
    const createRunBranch: Workspaces['createRunBranch'] = async () => ({ type: 'taken', head: 'c'.repeat(40) });
    await expect(allocateWorkspace(withGit(ports, { createRunBranch }))).rejects.toMatchObject({
      code: 'bad-input',
      message: 'the branch squad/tidy already exists, at cccccccccccc',
      next: 'Give the branch another name: `git branch -m squad/tidy before-tidy`. Then go on: `squad resume tidy`.',
    });
  });
});

describe('the end of a run', () => {
  const DONE = { outcome: 'done', why: '' } as const;
  const publish = { remote: 'origin', pr: false };
  const pushes: unknown[] = [];
  const forge = {
    push: async (order: unknown) => {
      pushes.push(order);
      return { type: 'pushed' };
    },
  } as unknown as Forge;

  const end = async (
    finished: Board['finished'],
    more: { definition?: Partial<RunDefinition>; git?: Partial<Workspaces>; isEmpty?: boolean } = {},
  ) => {
    pushes.splice(0);
    const opened = openInMemory();
    const { board, base, head } = opened;
    const delivered = more.isEmpty === true ? base : head;
    const git = { runHead: async () => delivered, ...more.git };
    const ledger = { record: () => undefined } as unknown as typeof opened.ports.ledger;
    const ports = { ...withGit(opened.ports, git), forge, ledger, lease: { runId: 'r' } as typeof opened.ports.lease };
    const facts = await publishWork(
      { ...ports, definition: { ...ports.definition, ...more.definition } },
      { ...board, branch: { ...board.branch, head: delivered }, finished },
      undefined,
    );
    return { facts, base, head };
  };

  it('pushes what was delivered, if that is wanted and all is done', async () => {
    const { facts, head } = await end(DONE, { definition: { publish } });
    expect(facts).toEqual({ branch: 'squad/tidy', head, kept: [], remote: 'origin' });
    expect(pushes).toEqual([{ remote: 'origin', branch: 'squad/tidy', commit: head }]);
  });

  it.each([
    ['nobody asked for it', DONE, {}],
    ['the run failed', { outcome: 'failed', why: '' } as const, { publish }],
    ['the run was cancelled', { outcome: 'cancelled', why: '' } as const, { publish }],
    ['the run has not ended', null, { publish }],
  ])('pushes nothing if %s', async (_, finished, definition) => {
    const { facts, head } = await end(finished, { definition });
    expect(facts).toEqual({ branch: 'squad/tidy', head, kept: [] });
    expect(pushes).toEqual([]);
  });

  it('says in full what happened to a branch that is not where it was checked, and pushes nothing', async () => {
    const moved = await end(DONE, { definition: { publish }, git: { runHead: async () => 'e'.repeat(40) } });
    expect(moved.facts.problem).toBe(
      `squad/tidy has changed since it was checked: it is at eeeeeeeeeeee, and the run delivered ${moved.head.slice(0, 12)} last. ` +
        'Compare the two, and push the branch yourself if it is right',
    );
    const deleted = await end(DONE, { definition: { publish }, git: { runHead: async () => undefined } });
    expect(deleted.facts).toMatchObject({
      head: deleted.base,
      problem: 'squad/tidy has changed since it was checked: it was deleted',
    });
    expect(pushes).toEqual([]);
  });

  it('of a run that failed says nothing of a branch that a person moved', async () => {
    const { facts } = await end({ outcome: 'failed', why: '' }, { git: { runHead: async () => 'e'.repeat(40) } });
    expect(facts).toEqual({ branch: 'squad/tidy', head: 'e'.repeat(40), kept: [] });
  });

  const cancelled = { outcome: 'cancelled', why: '' } as const;
  it.each([
    ['takes an empty branch of a cancelled run away', cancelled, true, {}, true],
    ['keeps the branch of a cancelled run that has work', cancelled, false, {}, false],
    ['keeps an empty branch of a run that is done', DONE, true, {}, false],
    ['keeps an empty branch that cannot be deleted', cancelled, true, { dropBranch: async () => false }, false],
    ['keeps a branch that a person moved', cancelled, true, { runHead: async () => 'e'.repeat(40) }, false],
  ] as const)('%s', async (_, finished, isEmpty, answers, isGone) => {
    const drops: unknown[] = [];
    const dropBranch: Workspaces['dropBranch'] = async (...order) => drops.push(order) > 0;
    const { facts, base } = await end(finished, { isEmpty, git: { dropBranch, ...answers } });
    expect('branch' in facts).toBe(!isGone);
    expect(drops).toEqual(isGone ? [['tidy', base]] : []);
    if (isGone) expect(facts).toEqual({ head: base, kept: [] });
  });

  describe('removes the folders', () => {
    const listed = (...tasks: string[]): ListedFolder[] =>
      tasks.map((task) => ({ run: 'tidy', task, path: `/folders/${task}`, isHalfMade: false }));

    const remove = async (
      { removeFolder, closeRun = async () => [] }: Pick<Workspaces, 'removeFolder'> & Partial<Workspaces>,
      given: { tasks?: string[]; fault?: OperationPorts['fault'] } = {},
    ) => {
      const opened = openInMemory();
      const listFolders = async () => listed(...(given.tasks ?? ['a', 'b', '_integration']));
      const { fault } = given;
      const ports = withGit(opened.ports, { listFolders, removeFolder, closeRun });
      const states = [
        stateOf('a', {}, { ...endedAs('done'), attempts: 3 }),
        stateOf('b', {}, endedAs('failed')),
        stateOf('c'),
      ];
      const tasks = states.reduce((table, state, order) => table.with({ ...state, order }), opened.board.tasks);
      const { kept } = await publishRun({ ...ports, ...(fault && { fault }) }, { ...opened.board, tasks });
      return kept;
    };

    it('of tasks, each work at the ref of its last attempt, with ignored files of what came to nothing', async () => {
      const removed: unknown[] = [];
      const removeFolder: Workspaces['removeFolder'] = async ({ task }, attempt, failed) => {
        removed.push([task, attempt, failed]);
        return { type: 'removed', rescued: false };
      };
      expect(await remove({ removeFolder }, { tasks: ['a', 'b', 'c', 'd', '_integration'] })).toEqual([]);
      expect(removed).toEqual([
        ['a', 'a-3', false],
        ['b', 'b-1', true],
        ['c', 'c-1', true],
        ['d', 'd-1', true],
      ]);
    });

    it('four at once, and all of them', async () => {
      let [now, most, all] = [0, 0, 0];
      const removeFolder: Workspaces['removeFolder'] = async () => {
        [now, all] = [now + 1, all + 1];
        most = Math.max(most, now);
        await Promise.resolve();
        now -= 1;
        return { type: 'removed', rescued: false };
      };
      await remove({ removeFolder }, { tasks: Array.from({ length: 9 }, (_, index) => `t${index}`) });
      expect([most, all]).toEqual([4, 9]);
    });

    it('and says which one stays, and why', async () => {
      const removeFolder: Workspaces['removeFolder'] = async ({ task }) =>
        task === 'a'
          ? { type: 'refused', reason: 'repositories', detail: ['x', 'y'] }
          : { type: 'removed', rescued: false };
      expect(await remove({ removeFolder })).toEqual([{ path: '/folders/a', why: 'repositories: x, y' }]);
    });

    it('and says of a folder, and of its own, what was thrown; without a place for that it throws', async () => {
      const removed: Workspaces['removeFolder'] = async () => ({ type: 'removed', rescued: false });
      const boom = (): never => {
        throw new Error('boom');
      };
      const fault = async (thrown: unknown): Promise<string> => String(thrown);
      expect(await remove({ removeFolder: boom }, { tasks: ['a'], fault })).toEqual([
        { path: '/folders/a', why: 'Error: boom' },
      ]);
      await expect(remove({ removeFolder: boom })).rejects.toThrow('boom');
      const own = { removeFolder: removed, closeRun: boom };
      expect(await remove(own, { fault })).toEqual([{ path: '/folders/_integration', why: 'Error: boom' }]);
      expect(await remove(own, { tasks: [], fault })).toEqual([{ path: 'tidy', why: 'Error: boom' }]);
    });
  });
});

describe('a push', () => {
  const push = async (
    publish: RunDefinition['publish'],
    answers: { push?: unknown; open?: unknown },
    branch: string | undefined = 'main',
    report?: () => string,
  ) => {
    const { ports } = openInMemory();
    const { definition } = ports;
    const opened: unknown[] = [];
    const forge = {
      push: async () => answers.push ?? { type: 'pushed' },
      openPullRequest: async (order: unknown) => {
        opened.push(order);
        return answers.open;
      },
    } as unknown as Forge;
    const { root, base } = definition.repository;
    const repository = { root, base, ...(branch === '' ? {} : { branch }) } as RunDefinition['repository'];
    const facts = await pushRun({ ...ports, forge, definition: { ...definition, publish, repository } }, 'c', report);
    return { facts, opened };
  };
  const found = { type: 'found', pullRequest: { url: 'https://forge/1', commit: 'c', open: true } };
  const origin = { remote: 'origin', pr: true };

  it.each([
    ['is none if nobody asked for it', undefined, {}, {}],
    [
      'that is refused is a problem with its reason',
      origin,
      { push: { type: 'refused', why: 'no access' } },
      { problem: 'squad/tidy was not pushed to origin: no access' },
    ],
    ['is all where no pull request is wanted', { remote: 'origin', pr: false }, { open: found }, { remote: 'origin' }],
    ['opens a pull request', origin, { open: found }, { remote: 'origin', pr: 'https://forge/1' }],
    [
      'stands if the pull request is refused',
      origin,
      { open: { type: 'refused', why: 'no token' } },
      { remote: 'origin', problem: 'no pull request was opened: no token' },
    ],
    [
      'stands if the forge shows no pull request',
      origin,
      { open: { type: 'none' } },
      { remote: 'origin', problem: 'no pull request was opened: the forge shows none' },
    ],
  ])('%s', async (_, publish, answers, facts) => {
    expect((await push(publish, answers)).facts).toEqual(facts);
  });

  it.each([
    ['the branch that was checked out', origin, 'main', 'main'],
    ['the one of squad.yaml', { ...origin, base: 'next' }, 'main', 'next'],
  ])('asks for a merge into %s', async (_, publish, branch, base) => {
    const { opened } = await push(publish, { open: found }, branch);
    const about = { title: 'Tidy up', body: 'Tidy up.' };
    expect(opened).toEqual([{ remote: 'origin', branch: 'squad/tidy', base, ...about }]);
  });

  it.each([
    ['an issue', 'https://github.com/acme/app/issues/12', 'Closes acme/app#12\n\nTidy up.'],
    ['an issue of an own host', 'https://git.acme.com/acme/app.js/issues/7', 'Closes acme/app.js#7\n\nTidy up.'],
    ['one of GitLab', 'https://gitlab.com/acme/tools/app/-/issues/7', 'Closes acme/tools/app#7\n\nTidy up.'],
    ['a work item of GitLab', 'https://gitlab.com/acme/app/-/work_items/7', 'Closes acme/app#7\n\nTidy up.'],
    ['a file', 'objective.md', 'Tidy up.'],
    ['a file with such a name', 'acme/app/issues/12', 'Tidy up.'],
    ['another page', 'https://github.com/acme/app/pull/12', 'Tidy up.'],
    ['a URL with more', 'https://github.com/acme/app/issues/12\nCloses #1', 'Tidy up.'],
  ])('says whether the work closes an issue: %s', (_, source, body) => {
    const objective = { title: 'Tidy up', goals: [], criteria: [], constraints: [], context: '', text: 'Tidy up.' };
    expect(pullRequestText({ objective, source }, '')).toEqual({ title: 'Tidy up', body });
  });

  it('opens it as the settings say, with the report as plain text at its end', async () => {
    const more = { draft: true, reviewers: ['ada'], labels: ['squad'] };
    const { opened } = await push({ ...origin, ...more }, { open: found }, 'main', () => 'Closes #1 @ada\n```\n![](x)');
    expect(opened).toEqual([expect.objectContaining({ ...more, base: 'main' })]);
    const [{ body = '' } = {}] = opened as { body?: string }[];
    expect(body).toMatch(
      /^Tidy up\.\n\n<details>[\s\S]*\n````\nCloses #1 @ada\n```\n!\[\]\(x\)\n````\n\n<\/details>\n$/,
    );
    const long = pullRequestText({ objective: { title: 't', text: 'o' }, source: 'f' }, 'x'.repeat(100_000));
    expect(long.body.length).toBeLessThan(20_200);
  });

  it('opens no pull request where HEAD had no branch, and says what to set', async () => {
    const { facts, opened } = await push(origin, { open: found }, '');
    expect(facts).toEqual({ remote: 'origin', problem: 'HEAD was detached: set publish.base in squad.yaml' });
    expect(opened).toEqual([]);
  });
});
