import { describe, expect, it } from 'vitest';
import { fewerVotes, fewerVotesText, replacedJudges, silentTasks } from '../../src/rules/silent-judges.ts';
import type { Board, TaskState } from '../../src/model/plan/board.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import type { Work } from '../../src/model/plan/work.ts';
import type { Json } from '../../src/text/json.ts';
import { boardWith, endedAs, REVIEWED, stateOf } from './support.ts';

const SILENT = [
  { role: 'pm', agent: 'pam', why: 'lost' },
  { role: 'qa', agent: 'quin', why: 'lost' },
];
const round = (approved: boolean, silent = SILENT): RoundRecord => ({
  ...{ round: 1, commit: 'c', approved, feedback: '', findings: [], by: [] },
  ...(silent.length === 0 ? {} : { silent }),
});
const reviewed = (work: Partial<Work>, quorum: 'all' | 'any' = 'all'): TaskState =>
  stateOf('a', { review: { ...REVIEWED.review!, quorum } }, { ...endedAs('done'), rounds: [round(true)], ...work });

describe('work that was approved with fewer votes', () => {
  it.each<[string, TaskState, [string, string[], boolean][]]>([
    ['where all were asked', reviewed({}), [['a', ['pm', 'qa'], false]]],
    ['where one is enough', reviewed({}, 'any'), [['a', ['pm', 'qa'], true]]],
    [
      'of work without a review',
      stateOf('a', {}, { ...endedAs('done'), rounds: [round(true)] }),
      [['a', ['pm', 'qa'], false]],
    ],
    ['in its last round', reviewed({ rounds: [round(true, []), round(true)] }), [['a', ['pm', 'qa'], false]]],
    [
      'in any of several reviews of its last commit',
      reviewed({
        rounds: [
          { ...round(true), review: 'A' },
          { ...round(true, []), review: 'B' },
        ],
      }),
      [['a', ['pm', 'qa'], false]],
    ],
    ['not in an earlier one', reviewed({ rounds: [round(true), round(true, [])] }), []],
    ['not where it was rejected', reviewed({ rounds: [round(false)] }), []],
    ['not before its end', reviewed({ phase: { at: 'working' } }), []],
    ['not where it failed', reviewed(endedAs('failed')), []],
    ['not without a round', reviewed({ rounds: [] }), []],
  ])('%s', (_, state, expected) => {
    expect(fewerVotes(boardWith([state])).map(({ of, roles, isEnough }) => [of, roles, isEnough])).toEqual(expected);
  });

  it('is said', () => {
    expect(fewerVotesText({ of: 'a', roles: ['pm', 'qa'], isEnough: false })).toBe(
      'a was approved without a verdict of pm, qa',
    );
  });
});

describe('a stage that was approved without one of its judges', () => {
  const judge = (stage: string, role: string, pass = 1): Json => ({ stage, pass, as: 'judge', role });
  const approved = (stage: string, pass = 1, yes = true): Json => ({ stage, pass, approved: yes });
  const failed = (id: string) => stateOf(id, {}, endedAs('failed'));
  const board = (states: TaskState[], tasks: Record<string, Json>, rounds: Json[]): Board => ({
    ...boardWith(states),
    records: new Map([
      ['stage-tasks', new Map(Object.entries(tasks))],
      ['stage-rounds', new Map(rounds.map((one, index) => [`${index}`, one]))],
    ]),
  });
  const J = { j: judge('S', 'pm') };

  it.each<[string, Board, string[]]>([
    ['whose task failed', board([failed('j')], J, [approved('S')]), ['j']],
    ['whose task was cancelled', board([stateOf('j', {}, endedAs('cancelled'))], J, [approved('S')]), ['j']],
    ['not one that is done', board([stateOf('j', {}, endedAs('done'))], J, [approved('S')]), []],
    ['not one that was skipped', board([stateOf('j', {}, endedAs('skipped'))], J, [approved('S')]), []],
    ['not one at work', board([stateOf('j')], J, [approved('S')]), []],
    ['not one that is gone', board([], J, [approved('S')]), []],
    ['not of a round that was rejected', board([failed('j')], J, [approved('S', 1, false)]), []],
    ['not of an earlier pass', board([failed('j')], J, [approved('S'), approved('S', 2)]), []],
    ['not of another stage', board([failed('j')], J, [approved('T')]), []],
    [
      'not one that works',
      board([failed('j')], { j: { stage: 'S', pass: 1, as: 'work', role: 'pm' } }, [approved('S')]),
      [],
    ],
    ['nothing where nothing is recorded', boardWith([failed('j')]), []],
  ])('%s', (_, on, expected) => expect([...silentTasks(on).keys()]).toEqual(expected));

  it('is one part of the closing word, with all that were silent', () => {
    const states = ['j', 'k', 'l'].map(failed);
    const places = { j: judge('S', 'pm'), k: judge('T', 'qa'), l: judge('S', 'qa') };
    expect(fewerVotes(board(states, places, [approved('S'), approved('T')]))).toEqual([
      { of: 'S', roles: ['pm', 'qa'], isEnough: false },
      { of: 'T', roles: ['qa'], isEnough: false },
    ]);
  });
});

it('whoever was asked in place of another is named, once for each', () => {
  const replaced = [
    { round: 1, role: 'pm', agent: 'pam', by: 'rex', why: 'lost' },
    { round: 2, role: 'pm', agent: 'rex', by: 'rea', why: 'lost' },
  ];
  expect(replacedJudges(boardWith([stateOf('a', {}, { replaced }), stateOf('b')]))).toEqual([
    'rex was asked about a in place of pam, who gave no verdict',
    'rea was asked about a in place of rex, who gave no verdict',
  ]);
});
