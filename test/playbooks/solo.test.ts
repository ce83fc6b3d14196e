import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../src/model/limits.ts';
import { createPlaybook, playbookOfRun } from '../../src/playbooks/registry.ts';
import { castOf } from '../../src/squad/preflight/roster.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';
import { factsOf, member, simulate, type Played, type Script } from './simulator.ts';

const onRuntime = (name: string, role: string, account: string) => member(name, role, { account });
const PAIR = [onRuntime('builder', 'builder', 'claude'), onRuntime('reviewer', 'reviewer', 'codex')];
/** The agents that `squad init` writes for two runtimes. */
const INIT = [
  onRuntime('planner', 'planner', 'claude'),
  ...['claude', 'codex'].flatMap((account, index) => [
    onRuntime(`builder-${index + 1}`, 'builder', account),
    onRuntime(`reviewer-${index + 1}`, 'reviewer', account),
  ]),
];

function play(roster = PAIR, script: Script = {}): Played {
  const roles = roster.map(({ role }) => role);
  const about = { run: 'try', section: undefined, limits: limitsSchema.parse({ reviewRounds: 2 }), publish: undefined };
  const options = createPlaybook({}, 'solo')?.options?.({ ...about, roles, objective: { criteria: [] } }) ?? {};
  const playbook = playbookOfRun({}, { playbook: 'solo', options });
  const facts = factsOf(roster, { options });
  const parsed = playbook?.parse(facts);
  if (playbook === undefined || parsed?.ok !== true) throw new Error(JSON.stringify(parsed));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script });
}

const turnsOf = ({ turns }: Played): string[] =>
  turns.map(({ task, review, agent }) => `${task}${review === null ? '' : ' review'} by ${agent}`);

describe('solo', () => {
  it.each([
    ['two agents', PAIR, ['build by builder', 'build review by reviewer']],
    ['the agents of init: the other runtime reviews', INIT, ['build by builder-1', 'build review by reviewer-2']],
    ['nobody who reviews', PAIR.slice(0, 1), ['build by builder']],
    ['a role of the repository', [onRuntime('ada', 'smith', 'claude')], ['build by ada']],
  ])('takes a turn to build and one to review: %s', (_who, roster, expected) => {
    const played = play(roster);
    expect(turnsOf(played)).toEqual(expected);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
  });

  it('gives rejected work back to its author, for as many rounds as the limits say', () => {
    const rejects = { approved: false, summary: 'no', findings: [finding('no test')], settled: ALL_FIXED };
    const played = play(PAIR, { turn: ({ review }) => (review === null ? undefined : { output: rejects }) });
    expect(turnsOf(played)).toEqual([
      'build by builder',
      'build review by reviewer',
      'build by builder',
      'build review by reviewer',
    ]);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'failed' });
  });

  it.each([
    [['claude'], ['builder claude', 'reviewer claude']],
    [
      ['claude', 'codex', 'gemini'],
      ['builder claude', 'reviewer codex'],
    ],
  ] as const)('is cast on %j', (runtimes, expected) => {
    const playbook = createPlaybook({}, 'solo');
    if (playbook === undefined) throw new Error('no playbook');
    expect(castOf(playbook, { runtimes, members: 4 }).map(({ name, runtime }) => `${name} ${runtime}`)).toEqual(
      expected,
    );
  });

  it('needs an agent that builds', () => {
    expect(() => play([member('planner', 'planner')])).toThrow('solo needs an agent that builds; add one to agents');
  });
});
