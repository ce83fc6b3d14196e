import { describe, expect, it } from 'vitest';
import { concludeRun, criteriaOf } from '../../src/rules/conclude.ts';
import { foldEntry } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { PROPOSAL, proposalSchema, readPlanAnswer, type Proposal } from '../../src/model/plan/proposal.ts';
import type { RunFacts } from '../../src/model/plan/board.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { withApproval } from '../../src/playbooks/shared/plan-approval.ts';
import { addTask, workTask } from '../../src/playbooks/shared/tasks.ts';
import type { Json } from '../../src/text/json.ts';
import { withDeliveryList } from '../support/delivery-list.ts';
import { failed, factsOf, integratedTasks, member, simulate, type Played, type Turn } from './simulator.ts';

const TEAM = [member('ada', 'planner'), member('bob', 'builder'), member('rex', 'reviewer')];
const OWN = {
  title: 'Try',
  goals: [],
  criteria: [{ text: 'passes', command: 'npm test' }],
  constraints: [],
  context: '',
  text: 'Build it.',
};
const ASKS = withDeliveryList(factsOf(TEAM, { objective: OWN, asksForPlan: true }));
const OPEN = withDeliveryList(factsOf(TEAM, { asksForPlan: true, commands: ['npm run check'] }));

function task(id: string, needs: string[] = []): Record<string, Json> {
  return { id, title: `Do ${id}`, role: 'builder', needs, brief: `Build ${id}.`, acceptance: [`${id} works`] };
}

function planOf(...tasks: Json[]): Json {
  return { summary: `plan of ${tasks.length}`, tasks };
}

interface Scene {
  readonly facts?: RunFacts;
  /** What the planner answers, round by round; the last one again and again. */
  readonly plans: readonly Json[];
  readonly answers: readonly string[];
  readonly failsAt?: number;
}

function play({ facts = ASKS, plans, answers, failsAt }: Scene) {
  const playbook = withApproval(createDeliveryPlaybook());
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const left = [...answers];
  const asked: string[] = [];
  const prompts: string[] = [];
  let planned = 0;
  const turn = (one: Turn) => {
    if (one.task !== 'plan') return undefined;
    if (one.prompt.why === 'feedback') prompts.push(one.prompt.text);
    planned += 1;
    return planned >= (failsAt ?? Infinity)
      ? failed('crashed')
      : { output: plans[Math.min(planned, plans.length) - 1] ?? null };
  };
  const played = simulate({
    facts,
    playbook,
    plan: playbook.plan(parsed.input),
    script: {
      turn,
      answer: ({ id, text }) => {
        asked.push(`${id}: ${text}`);
        return left.shift();
      },
    },
  });
  return { ...played, asked, prompts };
}

function proposalOf({ board }: Pick<Played, 'board'>): Proposal {
  return proposalSchema.parse(board.records.get(PROPOSAL.in)?.get(PROPOSAL.id));
}

describe('what a person says about a plan', () => {
  it.each([
    ['approve', { say: 'approve' }],
    ['  Approve ', { say: 'approve' }],
    ['stop', { say: 'stop' }],
    ['approve it, but smaller', { say: 'change', text: 'approve it, but smaller' }],
    ['{"tasks":[]}', { say: 'edited', plan: { tasks: [] } }],
    ['{tasks', { say: 'edited', plan: undefined }],
  ])('%s', (text, said) => {
    expect(readPlanAnswer(text)).toEqual(said);
  });
});

describe('approval of a plan', () => {
  it('starts nothing before the answer, and everything after approval', () => {
    const waiting = play({ plans: [planOf(task('a'), task('b', ['a']))], answers: [] });
    expect(waiting.end).toMatchObject({ next: 'ask', questions: [{ id: 'plan-1', options: ['approve', 'stop'] }] });
    expect([...waiting.board.tasks.keys()]).toEqual(['plan']);
    expect(waiting.asked).toEqual([expect.stringContaining('Approve the plan? 2 tasks: a, b. plan of 2')]);
    expect(proposalOf(waiting)).toMatchObject({ open: true, summary: 'plan of 2', tasks: [{ id: 'a' }, { id: 'b' }] });
    const approved = play({ plans: [planOf(task('a'), task('b', ['a']))], answers: ['approve'] });
    expect(approved.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(integratedTasks(approved)).toEqual(['a', 'b']);
    expect(proposalOf(approved).open).toBe(false);
  });

  it('asks nobody without it', () => {
    const { asksForPlan: _, ...auto } = ASKS;
    const played = play({ facts: auto, plans: [planOf(task('a'))], answers: [] });
    expect([played.end, played.asked]).toMatchObject([{ next: 'finish', outcome: 'done' }, []]);
  });

  it('holds work that mail adds meanwhile', () => {
    const facts = ASKS;
    const playbook = withApproval(createDeliveryPlaybook());
    const parsed = playbook.parse(facts);
    const changes = parsed.ok ? playbook.plan(parsed.input) : [];
    const extra = workTask({ id: 'extra', title: 'Extra', role: 'builder', brief: 'More.' });
    const played = simulate({
      facts,
      playbook,
      plan: [...changes, addTask({ ...extra, needs: ['plan'] })],
      script: { turn: (one) => (one.task === 'plan' ? { output: planOf(task('a')) } : undefined) },
    });
    expect(played.end).toMatchObject({ next: 'ask' });
    expect(played.turns.map((turn) => turn.task)).toEqual(['plan']);
  });

  it('has the planner change it in its session, and shows the new plan', () => {
    const played = play({ plans: [planOf(task('a'), task('b')), planOf(task('c'))], answers: ['one task', 'approve'] });
    expect(played.prompts).toEqual([expect.stringMatching(/test has read this plan and asks for a change:\none task/)]);
    expect(played.turns.filter((turn) => turn.task === 'plan').map(({ session }) => session.resume)).toEqual([
      false,
      true,
    ]);
    expect(played.asked.map((text) => text.slice(0, 6))).toEqual(['plan-1', 'plan-2']);
    expect(integratedTasks(played)).toEqual(['c']);
  });

  it('is bounded by the rounds of the planner, and the last plan can still be approved', () => {
    const again = Array.from({ length: 4 }, (_, index) => `smaller ${index}`);
    const played = play({ plans: [planOf(task('a'))], answers: [...again, 'approve'] });
    expect(played.asked.at(-1)).toContain('The planner cannot change it: plan has used its 4 rounds.');
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(played.turns.filter((turn) => turn.task === 'plan')).toHaveLength(4);
  });

  it('returns a changed plan that cannot be used once, then shows the last good one again', () => {
    const circle = planOf(task('a', ['b']), task('b', ['a']));
    const mended = play({ plans: [planOf(task('a')), circle, planOf(task('z'))], answers: ['other', 'approve'] });
    expect(mended.prompts.at(-1)).toContain('This plan cannot be used:\nthese tasks need each other in a circle: a, b');
    expect(integratedTasks(mended)).toEqual(['z']);
    const never = play({ plans: [planOf(task('a')), circle], answers: ['other', 'approve'] });
    expect(never.asked.at(-1)).toContain('The planner’s new plan cannot be used: these tasks need each other');
    expect(integratedTasks(never)).toEqual(['a']);
  });

  it('takes a person’s own plan, by the same checks', () => {
    const own = planOf(task('x'), task('y', ['x']));
    const played = play({ plans: [planOf(task('a'))], answers: [JSON.stringify(own)] });
    expect(integratedTasks(played)).toEqual(['x', 'y']);
    expect(proposalOf(played)).toMatchObject({ open: false, answer: own });
  });

  it.each([
    ['a circle', planOf(task('a', ['b']), task('b', ['a'])), 'these tasks need each other in a circle: a, b'],
    ['an unknown need', planOf(task('a', ['no'])), 'task 1 (a): it needs no, which is not in the plan'],
    ['a task that is there', planOf({ ...task('plan') }), 'task 1 (plan): this id is reserved'],
    ['another shape', { tasks: 'many' }, '`tasks` is the text "many"; it must be a list'],
  ])('asks again about an edited plan with %s', (_, edited, why) => {
    const played = play({ plans: [planOf(task('a'))], answers: [JSON.stringify(edited), 'approve'] });
    expect(played.asked[1]).toContain('plan-2');
    expect(played.asked[1]).toContain(why);
    expect(integratedTasks(played)).toEqual(['a']);
  });

  it('ends the run when a person stops it', () => {
    const played = play({ plans: [planOf(task('a'))], answers: ['stop'] });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'cancelled' });
    const conclusion = concludeRun({ board: played.board, problem: undefined, strict: false });
    expect(conclusion.headline).toBe('CANCELLED by test: the plan was not approved');
    expect(integratedTasks(played)).toEqual([]);
  });

  it('leaves a planner that fails to the playbook', () => {
    const played = play({ plans: [planOf(task('a'))], answers: ['again'], failsAt: 2 });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'failed' });
  });

  it('folds to the same board from its entries', () => {
    const played = play({ plans: [planOf(task('a')), planOf(task('c'))], answers: ['other', 'approve'] });
    const folded = played.entries.reduce(foldEntry, createBoard(ASKS));
    expect(folded.questions).toEqual(played.board.questions);
    expect(folded.facts).toEqual(played.board.facts);
    expect(folded.records).toEqual(played.board.records);
  });
});

describe('criteria that the planner proposes', () => {
  const proposed = {
    summary: 'with criteria',
    tasks: [task('a')],
    criteria: [
      { text: 'tests pass', command: 'npm test' },
      { text: 'checks pass', command: 'npm run check' },
      { text: 'it reads well', command: null },
    ],
  };

  it('are the run’s once a person approved them, and are run', () => {
    const played = play({ facts: OPEN, plans: [proposed], answers: ['approve'] });
    expect(played.board.facts.objective.criteria).toEqual([
      { text: 'tests pass', command: 'npm test' },
      { text: 'checks pass', command: 'npm run check' },
      { text: 'it reads well' },
    ]);
    expect(criteriaOf(played.board).map(({ state }) => state)).toEqual(['met', 'met', 'judged']);
  });

  it('run only commands that are allowed already where nobody agreed', () => {
    const { asksForPlan: _, ...auto } = OPEN;
    const played = play({ facts: auto, plans: [proposed], answers: [] });
    expect(criteriaOf(played.board)).toMatchObject([
      { state: 'not-checked', evidence: 'npm test: proposed by an agent; no person agreed to run it' },
      { state: 'met', by: 'engine' },
      { state: 'judged', by: 'rex' },
    ]);
    const conclusion = concludeRun({ board: played.board, problem: undefined, strict: true });
    expect(conclusion).toMatchObject({ exitCode: 1, headline: expect.stringContaining('1 of 3 criteria not checked') });
  });

  it('change nothing where the objective has its own', () => {
    const played = play({ plans: [proposed], answers: ['approve'] });
    expect(played.board.facts.objective.criteria).toEqual(OWN.criteria);
  });

  it('are refused with a command that a person could not read', () => {
    const hidden = { ...proposed, criteria: [{ text: 'x', command: 'true \u202e' }] };
    const played = play({ facts: OPEN, plans: [planOf(task('a'))], answers: [JSON.stringify(hidden), 'approve'] });
    expect(played.asked[1]).toContain('criterion 1: the command holds invisible characters');
  });
});
