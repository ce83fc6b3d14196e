import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../src/model/limits.ts';
import type { RunFacts } from '../../src/model/plan/board.ts';
import { createPlaybook, playbookOfRun } from '../../src/playbooks/registry.ts';
import { choicesOf, choiceText } from '../../src/rules/choice.ts';
import { concludeRun } from '../../src/rules/conclude.ts';
import { castOf } from '../../src/squad/preflight/roster.ts';
import type { Json } from '../../src/text/json.ts';
import { factsOf, member, simulate, type Played, type Script } from './simulator.ts';

const onRuntime = (name: string, role: string, account: string) => member(name, role, { account });
const TEAM = ['claude', 'codex'].flatMap((account, index) => [
  onRuntime(`builder-${index + 1}`, 'builder', account),
  onRuntime(`reviewer-${index + 1}`, 'reviewer', account),
]);
const VERIFY = 'npm test';
const KEEPS = [{ text: 'it greets', command: './greet' }];

interface About {
  readonly roster?: RunFacts['roster'];
  readonly tries?: number;
  readonly script?: Script;
}

function play({ roster = TEAM, tries = 3, script = {} }: About = {}): Played {
  const about = { run: 'try', section: undefined, limits: limitsSchema.parse({}), publish: undefined };
  const roles = roster.map(({ role }) => role);
  const asked = { ...about, roles, objective: { criteria: KEEPS }, verify: [VERIFY], tries };
  const options = createPlaybook({}, 'best-of')?.options?.(asked) ?? {};
  const playbook = playbookOfRun({}, { playbook: 'best-of', options });
  const plain = factsOf(roster, { options });
  const facts = { ...plain, objective: { ...plain.objective, criteria: KEEPS } };
  const parsed = playbook?.parse(facts);
  if (playbook === undefined || parsed?.ok !== true) throw new Error(JSON.stringify(parsed));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script });
}

/** The checks of these tries fail, however often their authors correct them. */
const failing =
  (...tries: readonly string[]): Script['evidence'] & {} =>
  (task, { commands }) =>
    tries.includes(task) ? { commands: commands.map((one) => ({ ...one, passed: false, output: 'red' })) } : undefined;

const chooses =
  (...answers: readonly Json[]): Script['turn'] & {} =>
  ({ task, number }) =>
    task.startsWith('choose') ? { output: answers[Math.min(number, answers.length) - 1] ?? null } : undefined;

const picked = (choice: string): Json => ({ choice, why: 'it has a test' });

const turnsOf = ({ turns }: Played): string[] => turns.map(({ task, agent }) => `${task} by ${agent}`);
const delivered = ({ board }: Played): string[] =>
  [...board.tasks.values()].flatMap(({ task, work: { phase } }) =>
    task.kind === 'integrate' && phase.at === 'ended' && phase.as === 'done' ? [task.id] : [],
  );
const resultsOf = ({ board }: Played): Record<string, string> =>
  Object.fromEntries([...choicesOf(board)].map(([task, { as }]) => [task, as]));
const headlineOf = ({ board }: Played): string => concludeRun({ board, problem: undefined, strict: false }).headline;

describe('best-of', () => {
  it('lets each runtime try before one tries twice, and delivers what the judge chooses', () => {
    const played = play({ script: { turn: chooses(picked('try-2')) } });
    expect(turnsOf(played)).toEqual([
      'try-1 by builder-1',
      'try-2 by builder-2',
      'try-3 by builder-1',
      'choose by reviewer-1',
    ]);
    expect(delivered(played)).toEqual(['deliver-try-2']);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(resultsOf(played)).toEqual({ 'try-1': 'not-chosen', 'try-2': 'delivered', 'try-3': 'not-chosen' });
    expect(choiceText(played.board)).toBe(
      'try-2 of 3 was delivered: try-1 was not chosen; try-3 was not chosen; reviewer-1 chose it: it has a test',
    );
  });

  it('checks each try by verify and by the commands of the criteria', () => {
    const { board } = play({ script: { turn: chooses(picked('try-1')) } });
    const requires = ['try-1', 'try-2', 'try-3'].map((id) => board.tasks.get(id)?.task.requires);
    const commands = [VERIFY, './greet'].map((run) => ({ kind: 'command', run, ofCriterion: true }));
    expect(requires).toEqual(requires.map(() => [{ kind: 'diff' }, ...commands]));
  });

  it('asks no judge where one try passes, and says that the others failed', () => {
    const played = play({ script: { evidence: failing('try-1', 'try-2') } });
    // Each author gets its failure back once.
    expect(turnsOf(played).toSorted()).toEqual([
      'try-1 by builder-1',
      'try-1 by builder-1',
      'try-2 by builder-2',
      'try-2 by builder-2',
      'try-3 by builder-1',
    ]);
    expect(delivered(played)).toEqual(['deliver-try-3']);
    const headline = headlineOf(played);
    expect(headline).toContain('try-3 of 3 was delivered: try-1 failed; try-2 failed; no other try could be delivered');
    expect(headline).not.toContain('continued without');
  });

  it('offers the judge only what passes', () => {
    const played = play({ script: { evidence: failing('try-2'), turn: chooses(picked('try-3')) } });
    const brief = played.board.tasks.get('choose')?.task.brief.text ?? '';
    expect(['try-1', 'try-2', 'try-3'].filter((id) => brief.includes(id))).toEqual(['try-1', 'try-3']);
    expect(delivered(played)).toEqual(['deliver-try-3']);
  });

  it('fails where none passes, with the reason of each', () => {
    const played = play({ script: { evidence: failing('try-1', 'try-2', 'try-3') } });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'failed' });
    expect(headlineOf(played)).toMatch(/^FAILED, no try can be delivered; try-1: .*`npm test`/);
    expect(played.board.finished?.why.split('\n').filter((line) => /^try-\d: /.test(line))).toHaveLength(3);
  });

  it.each([
    ['no candidate', { choice: 'try-9', why: 'x' }],
    ['no reason', { choice: 'try-1', why: ' ' }],
    ['no form', 'try-1'],
  ])('lets a judge correct an answer with %s once', (_what, wrong) => {
    const corrected = play({ script: { turn: chooses(wrong, picked('try-1')) } });
    expect(turnsOf(corrected).filter((turn) => turn.startsWith('choose'))).toEqual([
      'choose by reviewer-1',
      'choose by reviewer-1',
    ]);
    expect(delivered(corrected)).toEqual(['deliver-try-1']);
  });

  it('asks the next reviewer in place of one without a usable answer, and fails once none is left', () => {
    const played = play({
      script: { turn: ({ task }) => (task.startsWith('choose') ? { output: picked(task) } : undefined) },
    });
    expect(turnsOf(played).filter((turn) => turn.startsWith('choose'))).toEqual([
      'choose by reviewer-1',
      'choose by reviewer-1',
      'choose-2 by reviewer-2',
      'choose-2 by reviewer-2',
    ]);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'failed' });
    expect(headlineOf(played)).toContain('no reviewer chose one of try-1, try-2, try-3, which are done');
  });

  it('chooses again among the others where the chosen one cannot be delivered', () => {
    const played = play({
      script: {
        verify: (task) => (task === 'deliver-try-1' ? 'red on the merged work' : undefined),
        turn: ({ task }) =>
          task === 'choose'
            ? { output: picked('try-1') }
            : task === 'choose-2'
              ? { output: picked('try-3') }
              : undefined,
      },
    });
    expect(delivered(played)).toEqual(['deliver-try-3']);
    expect(resultsOf(played)).toEqual({ 'try-1': 'failed', 'try-2': 'not-chosen', 'try-3': 'delivered' });
    expect(choicesOf(played.board).get('try-1')?.why).toContain('red on the merged work');
  });

  it('repairs the delivered work in the session of its author', () => {
    let refused = 0;
    const played = play({
      script: {
        turn: chooses(picked('try-2')),
        gate: () => ((refused += 1) === 1 ? { failing: ['./greet'] } : undefined),
      },
    });
    expect(turnsOf(played).at(-1)).toBe('fix-1 by builder-2');
    expect(played.board.tasks.get('fix-1')?.task).toMatchObject({ session: { of: 'try-2' }, integrate: true });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(choiceText(played.board)).toContain('try-2 of 3 was delivered');
  });

  it('takes the first where a person leaves out the choice, and says so', () => {
    let isSkipped = false;
    const played = play({
      script: {
        turn: chooses(picked('try-3')),
        outside: (board) => {
          if (isSkipped || board.tasks.get('choose') === undefined) return undefined;
          isSkipped = true;
          return {
            type: 'intervention',
            by: 'ada',
            intervention: { verb: 'skip', task: 'choose', why: 'any will do' },
          };
        },
      },
    });
    expect(delivered(played)).toEqual(['deliver-try-1']);
    expect(headlineOf(played)).toContain('the choice was left out');
  });

  it.each([2, 9])('has %d tries', (tries) => {
    const played = play({ tries, script: { turn: chooses(picked('try-1')) } });
    expect(turnsOf(played).filter((turn) => turn.startsWith('try'))).toHaveLength(tries);
  });

  it.each([
    ['builds', TEAM.filter(({ role }) => role !== 'builder'), 'best-of needs an agent that builds'],
    ['chooses', TEAM.filter(({ role }) => role !== 'reviewer'), 'best-of needs an agent with the role reviewer'],
  ])('needs an agent that %s', (_what, roster, message) => {
    expect(() => play({ roster })).toThrow(message);
  });

  it('is cast with a builder and a reviewer on each runtime', () => {
    const playbook = createPlaybook({}, 'best-of');
    if (playbook === undefined) throw new Error('no playbook');
    const cast = castOf(playbook, { runtimes: ['claude', 'codex'], members: 4 });
    expect(cast.map(({ name, runtime }) => `${name} ${runtime}`).toSorted()).toEqual([
      'builder-1 claude',
      'builder-2 codex',
      'reviewer-1 claude',
      'reviewer-2 codex',
    ]);
  });
});
