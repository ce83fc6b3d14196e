import { reviewsIn } from '../../src/playbooks/stages/list-facts.ts';
import { describe, expect, it } from 'vitest';
import { concludeRun } from '../../src/rules/conclude.ts';
import { createView } from '../../src/rules/view.ts';
import type { Board } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import { checkList } from '../../src/playbooks/stages/check-list.ts';
import type { Stage } from '../../src/playbooks/stages/stage-list.ts';
import { optionsOf } from '../../src/playbooks/stages/stage-options.ts';
import { stageViews } from '../../src/playbooks/stages/stage-views.ts';
import { createPlaybook, playbookOfRun } from '../../src/playbooks/registry.ts';
import { defaultSettings } from '../../src/squad/settings/parse-settings.ts';
import { asObject, plainJson, type Json } from '../../src/text/json.ts';
import { DOCUMENTS } from '../support/objective-documents.ts';
import { factsOf, member, simulate, type Played, type Script } from './simulator.ts';
import { answers, APPROVED, briefOf, done, entry, OBJECTIVE, rejection } from './stages/support.ts';
import { finding } from '../support/findings.ts';

const TEAM = [
  member('pm', 'pm'),
  member('ba', 'ba'),
  member('writer', 'writer'),
  member('builder-1', 'builder'),
  member('builder-2', 'builder'),
  member('reviewer', 'reviewer'),
];
const THIRTEEN =
  'SETUP BUSINESS_PROBLEM SPEC SPEC_REVIEW RESEARCH TEST_STRATEGY PLAN PLAN_REVIEW IMPLEMENTATION IMPLEMENTATION_REVIEW TEST POST_REVIEW COMPLETE';

type Section = Readonly<Record<string, string>>;

function frozen(section?: Section): Json {
  const limits = { ...defaultSettings().limits, reviewRounds: 3 };
  const from = { run: 'try', section, limits, publish: undefined, roles: [], objective: { criteria: [] } };
  return createPlaybook({}, 'objective')?.options?.(from) ?? {};
}

function stagesOf(section?: Section): readonly Stage[] {
  return optionsOf({ options: frozen(section) })?.list.stages ?? [];
}

const WORK: Readonly<Record<string, Json>> = {
  plan: { tasks: [entry('left'), entry('right')] },
  complete: { summary: 'built', tryIt: [], left: [], followUps: [] },
};
const JUDGED = Object.fromEntries(
  [1, 2, 3].flatMap((pass) => {
    const number = pass === 1 ? '' : `-${pass}`;
    return [`post-review${number}`, `post-review-reviewer${number}`].map((task) => [task, APPROVED]);
  }),
);

function play(
  said: Readonly<Record<string, Json>> = {},
  script: Script = {},
  roster = TEAM,
  section?: Section,
): Played {
  const options = frozen(section);
  const playbook = playbookOfRun({}, { playbook: 'objective', options });
  const facts = factsOf(roster, { objective: OBJECTIVE, options, verifies: false });
  const parsed = playbook?.parse(facts);
  if (playbook === undefined || parsed?.ok !== true) throw new Error('no playbook');
  const turn = answers({ ...WORK, ...JUDGED, ...said });
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { turn, ...script } });
}

function shown({ board }: Pick<Played, 'board'>): string[] {
  return stageViews(createView(board)).map(({ id, state, by }) => `${id} ${state} ${by.join(' ')}`.trim());
}

describe('the list of objective', () => {
  it.each([undefined, { documents: 'drop' }, { whenNotConverging: 'stop' }])('has no problem: %j', (section) => {
    const stages = stagesOf(section).map((one) =>
      // Only playbooks of squad have such a stage answer as well.
      'removes' in one.makes ? { ...one, makes: { removes: one.makes.removes } } : one,
    );
    const list = { ...asObject(asObject(frozen(section))['list']), stages };
    for (const staffed of [
      ['pm', 'ba', 'builder', 'reviewer'],
      ['pm', 'ba', 'writer', 'builder', 'reviewer'],
      undefined,
    ]) {
      expect(checkList(plainJson(list), staffed)).toEqual([]);
    }
  });

  it('routes each stage to the personas that may do it', () => {
    const routes = stagesOf().map((stage) => [
      ...[stage.id, stage.by.join(' ')],
      reviewsIn(stage)[0]?.by.join(' ') ?? '',
    ]);
    expect(routes).toEqual([
      ['SETUP', 'pm', ''],
      ['BUSINESS_PROBLEM', 'ba', ''],
      ['SPEC', 'ba writer', 'reviewer pm'],
      ['RESEARCH', 'builder writer', ''],
      ['TEST_STRATEGY', 'builder reviewer', ''],
      ['PLAN', 'pm builder', 'reviewer pm'],
      ['IMPLEMENTATION', 'builder', 'reviewer'],
      ['TEST', 'builder reviewer', ''],
      ['POST_REVIEW', 'pm reviewer', ''],
      ['COMPLETE', 'pm', ''],
    ]);
  });

  it('names its documents as the state of a run does', () => {
    const documents = stagesOf().flatMap(({ makes }) => ('document' in makes ? [makes.document] : []));
    expect(documents).toEqual(Object.values(DOCUMENTS).map(({ path }) => path));
    expect(documents).toEqual(expect.arrayContaining(['problem_statement.md', 'feature_spec.md']));
  });

  it('tells the author of each document every heading that is checked', () => {
    for (const { brief, makes } of stagesOf()) {
      if (!('document' in makes)) continue;
      const told = [...brief.matchAll(/^- `## ([^`]+)`: \S/gm)].map(([, heading]) => heading);
      expect(told).toEqual(makes.headings);
    }
  });

  it('follows the limit of rounds and the section of squad.yaml', () => {
    expect(stagesOf().find(({ id }) => id === 'POST_REVIEW')?.judges).toEqual({
      rounds: 3,
      else: { fix: 'IMPLEMENTATION' },
    });
    const { makes } = stagesOf({ documents: 'drop' }).at(-1) ?? {};
    expect(makes).toEqual({ ...stagesOf().at(-1)?.makes, removes: 'documents' });
    expect(optionsOf({ options: frozen() })).toMatchObject({
      folder: 'docs/squad/try',
      list: { whenNotConverging: 'report' },
    });
  });
});

describe('a run of objective', () => {
  it('walks its thirteen stages in order, with both builders side by side', () => {
    const played = play();
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(done(played)).toEqual([
      ...['setup', 'business-problem', 'spec', 'spec-writer', 'research', 'test-strategy', 'plan'],
      ...['left', 'right', 'test', 'post-review', 'post-review-reviewer', 'complete'],
    ]);
    const pairs = played.steps.flatMap(({ next }) =>
      next.next === 'start' && next.starts.length > 1
        ? [next.starts.map((start) => start.start === 'turn' && `${start.task} ${start.agent}`)]
        : [],
    );
    expect(pairs).toContainEqual(['left builder-1', 'right builder-2']);
    expect(shown(played)).toEqual([
      'SETUP done pm',
      'BUSINESS_PROBLEM done ba',
      'SPEC done ba writer',
      'SPEC_REVIEW done reviewer pm',
      'RESEARCH done builder-1',
      'TEST_STRATEGY done builder-1',
      'PLAN done pm',
      'PLAN_REVIEW done reviewer',
      'IMPLEMENTATION done builder-1 builder-2',
      'IMPLEMENTATION_REVIEW done reviewer',
      'TEST done builder-1',
      'POST_REVIEW done pm reviewer',
      'COMPLETE done pm',
    ]);
  });

  it('shows all thirteen from the first moment', () => {
    const [first] = play().steps;
    if (first === undefined) throw new Error('no step');
    expect(
      stageViews(createView(first.board))
        .map(({ id }) => id)
        .join(' '),
    ).toBe(THIRTEEN);
  });

  it.each([undefined, { documents: 'drop' }])('ends in the words of COMPLETE: %j', (section) => {
    const said = { summary: 'Both are built.', tryIt: ['npm test'], left: ['None.'], followUps: [] };
    const { end } = play({ complete: said }, {}, TEAM, section);
    expect(end).toMatchObject({ outcome: 'done', why: 'Both are built.\nTry it: npm test' });
  });

  it('has the writer go over the specification of ba, with a review of what it changes', () => {
    const played = play();
    expect(played.board.tasks.get('spec-writer')?.task).toMatchObject({
      role: 'writer',
      title: 'Spec: writer',
      needs: ['business-problem', 'spec'],
      mayChangeNothing: true,
      review: { by: ['reviewer', 'pm'] },
    });
    expect(briefOf(played, 'spec-writer')).toMatch(
      /^ba has written docs\/squad\/try\/feature_spec\.md: [^]*Specify what/,
    );
    const nothing = play(
      {},
      { evidence: (task) => (task === 'spec-writer' ? { commit: null, commits: 0, changedPaths: [] } : undefined) },
    );
    expect(nothing.turns.filter(({ task }) => task === 'spec-writer').map(({ review }) => review)).toEqual([null]);
    expect(nothing.end).toMatchObject({ outcome: 'done' });
  });

  it('checks a plan before it has it reviewed', () => {
    const said = answers({ ...WORK, ...JUDGED, plan: [{ says: { tasks: [] } }, { says: WORK['plan'] ?? null }] });
    const played = play({}, { turn: said });
    const turns = played.turns.filter(({ task }) => task === 'plan').map(({ review, prompt }) => review ?? prompt.why);
    expect(turns).toEqual(['start', 'repair', 'reviewer']);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it.each([undefined, { documents: 'drop' }])('is not done while COMPLETE names what is missing: %j', (section) => {
    const said = { summary: 'Both are built.', tryIt: [], left: ['a page'], followUps: [] };
    const why = 'complete: something that was asked for is missing:\na page';
    const { board, end } = play({ complete: said }, {}, TEAM, section);
    expect(end).toMatchObject({ outcome: 'failed', why });
    expect(concludeRun({ board, problem: undefined, strict: false })).toMatchObject({
      headline: 'FAILED, complete: something that was asked for is missing: a page',
      exitCode: 1,
    });
  });

  it('is done once a person accepts what COMPLETE named, and says so', () => {
    const said = { summary: 'Both are built.', tryIt: [], left: ['a page'], followUps: [] };
    const { board, end } = play(
      { complete: said },
      {
        outside: ({ finished }) =>
          finished?.outcome === 'failed'
            ? {
                type: 'intervention',
                by: 'dana',
                intervention: { verb: 'override', task: 'complete', as: 'done', why: 'no page' },
              }
            : undefined,
      },
    );
    expect(end).toMatchObject({ outcome: 'done', why: 'Both are built.\nLeft out: a page' });
    expect(concludeRun({ board, problem: undefined, strict: false }).headline).toContain('accepted by dana: complete');
  });

  it('ends in words that know the repair of the merged work', () => {
    let broken = true;
    const after = { ...asObject(WORK['complete']), summary: 'built and repaired' };
    const said = answers({ ...WORK, ...JUDGED, 'complete-2': after });
    const played = play(
      {},
      {
        turn: (turn, board) => {
          if (turn.task === 'fix-1') broken = false;
          return said(turn, board);
        },
        gate: () => (broken ? { failing: ['npm test'] } : undefined),
      },
    );
    expect(played.end).toMatchObject({ outcome: 'done', why: 'built and repaired' });
  });

  it('needs no writer and no second builder', () => {
    const roster = TEAM.filter(({ name }) => name !== 'writer' && name !== 'builder-2');
    expect(play({}, {}, roster).end).toMatchObject({ outcome: 'done' });
  });

  it('turns a rejection of the whole into a reviewed fix, then tests and judges again', () => {
    const played = play({ 'post-review-reviewer': rejection('nothing calls left') });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(done(played).slice(-5)).toEqual(['fix-1', 'test-2', 'post-review-2', 'post-review-reviewer-2', 'complete']);
    expect(briefOf(played, 'fix-1')).toContain('nothing calls left');
    expect(played.board.tasks.get('fix-1')?.task.review?.by).toEqual(['reviewer']);
  });

  it('fails after as many rejections of the whole as there are rounds, and builds no further fix', () => {
    const rejected = Object.fromEntries(Object.keys(JUDGED).map((task) => [task, rejection(`flaw of ${task}`)]));
    const played = play(rejected);
    expect(played.end).toMatchObject({ outcome: 'failed' });
    expect(done(played).filter((task) => task.startsWith('fix-'))).toEqual(['fix-1', 'fix-2']);
    expect(played.board.tasks.has('complete')).toBe(false);
  });

  it('reads the documents before it works', () => {
    const played = play();
    const files = (task: string) => played.board.tasks.get(task)?.task.brief.files ?? [];
    expect(files('setup')).toEqual([]);
    expect(files('spec')).toEqual(['docs/squad/try/setup.md', 'docs/squad/try/problem_statement.md']);
    expect(files('left')).toContain('docs/squad/try/plan.md');
    expect(files('post-review')).toContain('docs/squad/try/test_report.md');
  });

  it('leaves no placeholder in a prompt', () => {
    const { board } = play();
    for (const { task } of board.tasks.values()) expect(task.brief.text).not.toMatch(/\{\w+(?::\w+)?\}(?!\.)/);
  });
});

describe('work by mail in objective', () => {
  const ASSIGN: Extract<PlanNews, { type: 'mail' }> = {
    ...{ type: 'mail', id: 'sess-1-9', from: 'MAIN', to: ['builder'], kind: 'ask', action: 'assign', task: 'EXTRA-1' },
    body: { task_type: 'implement', files: [], success_criteria: ['it is there'], dependencies: [] },
  };
  const ADDED = 'mail-9-builder';

  function mailed(when: (board: Board) => boolean, turn?: Script['turn']): Played {
    let sent = false;
    const said = answers({ ...WORK, ...JUDGED });
    return play(
      {},
      {
        outside: (board) => {
          if (sent || !when(board)) return undefined;
          sent = true;
          return ASSIGN;
        },
        turn: (one, board) => turn?.(one, board) ?? said(one, board),
      },
    );
  }

  const live = (task: string) => (board: Board) => board.tasks.get(task)?.work.author.state.at === 'live';

  it('is reviewed, and waited for by the stages that judge the whole', () => {
    const played = mailed(live('left'));
    const order = done(played);
    expect(played.board.tasks.get(ADDED)?.task).toMatchObject({ integrate: true, review: { by: ['reviewer'] } });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(order.indexOf(ADDED)).toBeLessThan(order.indexOf('post-review'));
  });

  it('has the whole judged again where it comes last, and is not cut off', () => {
    const played = mailed(live('post-review'));
    const order = done(played);
    expect(order.slice(order.indexOf(ADDED))).toEqual([
      ...[ADDED, 'test-2', 'post-review-2', 'post-review-reviewer-2', 'complete'],
    ]);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('that is rejected fails the run, whatever the last review said', () => {
    const findings = [finding('no test')];
    const played = mailed(live('post-review'), ({ task, review }) =>
      task === ADDED && review !== null ? { output: { approved: false, summary: 'no', findings } } : undefined,
    );
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringContaining(ADDED) });
  });
});

it('fails a run whose definition has no list', () => {
  const playbook = playbookOfRun({}, { playbook: 'objective', options: {} });
  const facts = factsOf(TEAM, { objective: OBJECTIVE, options: {}, verifies: false });
  const parsed = playbook?.parse(facts);
  if (playbook === undefined || parsed?.ok !== true) throw new Error('no playbook');
  expect(playbook.plan(parsed.input)).toMatchObject([{ do: 'finish', why: 'this run has no list of stages' }]);
});
