import { candidatesFor } from '../../../src/model/sprint/candidates.ts';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/model/sprint/finding.ts';
import type { BacklogState } from '../../../src/model/sprint/item.ts';
import type { Team } from '../../../src/model/sprint/team.ts';
import { findAll, namedPaths, newAmong, openFindings, type Gathered } from '../../../src/rules/sprint/findings.ts';
import { createRandom } from '../../support/random.ts';

const NOTHING: Gathered = { failed: [], dirty: [], logLines: [], discovery: [], there: new Set() };
const NONE: Team = {
  request: new Map(),
  requestPlan: new Map(),
  review: new Map(),
  item: new Map(),
  itemState: new Map(),
  sprint: new Map(),
  progress: new Map(),
  stop: new Map(),
  end: new Map(),
  finding: new Map(),
};

const ids = (gathered: Partial<Gathered>, team = NONE, folder?: string): string[] =>
  findAll(team, { ...NOTHING, ...gathered }, folder).map(({ id }) => id);
const titles = (gathered: Partial<Gathered>, team = NONE, folder?: string): string[] =>
  findAll(team, { ...NOTHING, ...gathered }, folder).map(({ title }) => title);
const log = (...lines: string[]): Partial<Gathered> => ({ logLines: lines.map((line) => ({ file: 'web.log', line })) });

function withItems(states: Readonly<Record<string, Partial<BacklogState>>>): Team {
  const item = {
    kind: 'feature' as const,
    acceptance: [],
    priority: 50,
    source: 'sprint:S',
    version: 1,
    createdAt: 1,
    updatedAt: 1,
  };
  return {
    ...NONE,
    item: new Map(Object.keys(states).map((id) => [id, { ...item, title: id }])),
    itemState: new Map(Object.entries(states).map(([id, state]) => [id, { state: 'pending', at: 1, ...state }])),
  };
}

describe('what is found', () => {
  it.each<[string, Partial<Gathered>, string[]]>([
    ['nothing', {}, []],
    [
      'a failed run',
      { failed: [{ run: 'u1', name: 'login', headline: 'FAILED, a: no' }] },
      ['the run login has failed'],
    ],
    [
      'each folder with changes once',
      { dirty: ['src/a', 'src/b', 'x'] },
      ['src has changes that no commit has', 'x has changes that no commit has'],
    ],
    ['no file of the team', { dirty: ['team/a', 'team', 'team/'] }, []],
    ['but one beside its folder', { dirty: ['team.md'] }, ['team.md has changes that no commit has']],
    ['a line with ERROR', log('ERROR no route', 'INFO fine'), ['web.log: ERROR no route']],
    [
      'a line with Traceback',
      log('Traceback (most recent call last):'),
      ['web.log: Traceback (most recent call last):'],
    ],
    ['no part of a word', log('NOERRORS', 'TERRORIST', 'error'), []],
    [
      'nothing of what squad writes of its own turns',
      log('2026-11-28T09:00:00+09:00 turn_start id=a title="fix the ERROR"', '[squad] service_start role=ERROR'),
      [],
    ],
    [
      'a command that fails',
      { discovery: [{ command: 'make lint', problem: 'it exits with 2', output: 'x' }] },
      ['`make lint` fails: it exits with 2'],
    ],
    [
      'each line of a command',
      { discovery: [{ command: 'todos', output: 'fix a\n\n fix b \nfix a\n' }] },
      ['fix a', 'fix b'],
    ],
  ])('is %s', (_what, gathered, found) => {
    expect(titles(gathered, NONE, 'team')).toEqual(found);
  });

  it('leaves out the runs of sprints and planners', () => {
    const kickoff = { milestone: '', text: '', items: [], attachments: [], by: '', trigger: 'slot' as const };
    const team: Team = {
      ...NONE,
      sprint: new Map([['S', { kickoff, run: 'u1', base: 'b', at: 1, until: null }]]),
      review: new Map([['plan-1', { run: 'u2', requests: [], findings: [], at: 1 }]]),
    };
    const failed = ['u1', 'u2', 'u3'].map((run) => ({ run, name: run, headline: 'no' }));
    expect(titles({ failed }, team)).toEqual(['the run u3 has failed']);
  });

  it('is a request that no review has answered, and none that waits for its first', () => {
    const request = { by: 'dana', at: 1, fingerprint: '', attachments: [], joined: [] };
    const review = { run: 'u', requests: ['r-1'], findings: [], at: 1 };
    const reviews = (count: number): Team => ({
      ...NONE,
      request: new Map([
        ['r-1', { ...request, text: 'Log in' }],
        ['r-2', { ...request, text: 'Log out' }],
      ]),
      review: new Map(Array.from({ length: count }, (_, index) => [`plan-${index}`, review])),
    });
    expect(titles({}, reviews(2))).toEqual([]);
    expect(titles({}, reviews(3))).toEqual(['r-1 has no answer of a planner: Log in']);
    const planned = new Map([['r-1', { outcome: 'refused' as const, items: [], answer: '', at: 1 }]]);
    expect(titles({}, { ...reviews(3), requestPlan: planned })).toEqual([]);
  });

  it('is a blocked item once what it waits for is there: another item, or a path', () => {
    const team = withItems({
      'b-api': { state: 'done' },
      'b-form': { state: 'blocked', required_inputs: ['b-api has to be done'] },
      'b-docs': { state: 'blocked', recommended_next_step: 'Write it once `docs/spec.md` is there.' },
      'b-port': { state: 'blocked', required_inputs: ['the port of the server'] },
      'b-old': { state: 'pending', required_inputs: ['b-api'] },
    });
    expect(namedPaths(team)).toContain('docs/spec.md');
    expect(titles({}, team)).toEqual(['b-form can be looked at again: b-form']);
    expect(titles({ there: new Set(['docs/spec.md']) }, team)).toHaveLength(2);
  });

  it('names no path outside of the repository', () => {
    const inputs = ['../up', '/etc/passwd', 'a/../../b', '~/x', 'ok/file.md', 'a//b'];
    expect(namedPaths(withItems({ 'b-a': { state: 'blocked', required_inputs: inputs } }))).toEqual(['ok/file.md']);
  });

  it('is at most twenty of each source', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `fix ${'x'.repeat(index + 1)}`);
    expect(titles({ discovery: [{ command: 'c', output: lines.join('\n') }], dirty: ['a'] })).toHaveLength(21);
  });
});

describe('the id of a finding', () => {
  it('is equal whenever the same is logged again, and differs for another error', () => {
    const random = createRandom(7);
    const number = (): string => String(Math.floor(random() * 1e9));
    const hex = (): string => `deadbeef${number()}`;
    const line = (): string =>
      `2026-11-${10 + Math.floor(random() * 20)}T0${Math.floor(random() * 9)}:12:33.123Z ERROR worker ${number()} at 0x${hex()}: no route in ${number()}.5 ms (${hex()})`;
    const known = ids(log(line()));
    for (let trial = 0; trial < 300; trial += 1) expect(ids(log(line()))).toEqual(known);
    expect(ids(log(line().replace('no route', 'no host')))).not.toEqual(known);
  });

  it('does not change while a person edits in a folder that is known', () => {
    expect(ids({ dirty: ['src/a'] })).toEqual(ids({ dirty: ['src/a', 'src/b/c'] }));
  });

  it('differs between sources, runs and commands', () => {
    const all = [
      ...ids({ dirty: ['lint'] }),
      ...ids(log('ERROR lint')),
      ...ids({ discovery: [{ command: 'lint', output: 'lint' }] }),
      ...ids({ discovery: [{ command: 'lint', problem: 'no', output: '' }] }),
      ...ids({ failed: [{ run: 'lint', name: 'lint', headline: 'no' }] }),
      ...ids({ failed: [{ run: 'other', name: 'lint', headline: 'no' }] }),
    ];
    expect(new Set(all).size).toBe(6);
  });
});

describe('findings on record', () => {
  const finding: Finding = { source: 'log', title: 't', detail: 'd', firstSeen: 1 };
  const team: Team = {
    ...withItems({}),
    finding: new Map([
      ['f-1', finding],
      ['f-2', { ...finding, settled: 'none' }],
      ['f-3', finding],
      ['f-4', finding],
    ]),
    review: new Map([['plan-1', { run: 'u', requests: [], findings: ['f-3'], at: 1 }]]),
  };

  it('are no longer new, and those that a planner had are not open', () => {
    const found = ['f-1', 'f-2', 'f-5'].map((id) => ({ id, ...finding }));
    expect(newAmong(team, found).map(({ id }) => id)).toEqual(['f-5']);
    expect(openFindings(team)).toEqual(['f-1', 'f-4']);
  });
});

describe('the candidate that a finding is where no agent looks', () => {
  it.each([
    ['request', 'r-1 has no answer', '', 'feature', 80],
    ['blocked-item', 'b-a can be looked at again', '', 'feature', 70],
    ['failed-result', 'the run a has failed', 'FAILED', 'bug', 60],
    ['discovery', 'fix a', 'fix a', 'bug', 50],
    ['discovery', 'a typo in the readme', '', 'docs', 50],
    ['log', 'web.log: ERROR no', 'ERROR no', 'bug', 40],
    ['log', 'web.log: Traceback', 'Traceback', 'bug', 55],
    ['dirty-path', 'src has changes', 'src/a', 'chore', 20],
    ['dirty-path', 'docs has changes', 'docs/a', 'docs', 20],
    // A text of a person does not make it more urgent.
    ['request', 'security! fatal! panic!', '', 'feature', 80],
  ] as const)('%s: %s', (source, title, detail, kind, priority) => {
    expect(candidatesFor([{ id: 'f-1', source, title, detail }])).toEqual([{ finding: 'f-1', title, kind, priority }]);
  });

  it('comes in the order of its priority', () => {
    const of = (source: 'log' | 'request' | 'dirty-path') => ({ id: source, source, title: 't', detail: '' });
    expect(candidatesFor([of('dirty-path'), of('request'), of('log')]).map(({ finding }) => finding)).toEqual([
      'request',
      'log',
      'dirty-path',
    ]);
  });
});
