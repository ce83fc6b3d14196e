import { describe, expect, it } from 'vitest';
import { concludeRun } from '../../src/rules/conclude.ts';
import { createView } from '../../src/rules/view.ts';
import type { Json } from '../../src/text/json.ts';
import type { MailAction } from '../../src/model/mail/kind.ts';
import type { Board, RunFacts } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { factsOf, failed, member, simulate, type Played, type Script, type Turn } from './simulator.ts';

const ANSWERED = { answer: 'the first one', doc_updated: false, doc_path: '', reason: '' };

const TEAM = [member('main', 'main'), ...['a', 'b', 'c'].map((name) => member(name, 'member'))];
const FACTS = factsOf(TEAM, {
  objective: {
    title: 'Try',
    goals: [],
    criteria: [],
    constraints: [],
    context: '',
    text: 'Improve docs/design.md, then build it.',
  },
});

const ISSUE = {
  doc_path: 'docs/design.md#L3',
  code_paths: ['src/a.ts#L1'],
  category: 'func',
  severity: 'high',
  summary: 'The retry is not said.',
  suggestion: 'Say it.',
};
const NOTHING: Json = { issues: [], summary: 'fine', questions: [] };
const ONE: Json = { issues: [ISSUE], summary: 'one', questions: [] };

/** One assignment to each, the n-th called `T-<n>`. `change` says where they differ. */
function assigned(to: readonly string[], change: (index: number) => Record<string, Json> = () => ({})): Json {
  const assignments = to.map((one, index) => ({
    task_id: `T-${index}`,
    to: one,
    task_type: 'implement',
    summary: 'Let it wait.',
    files: ['src/a.ts'],
    success_criteria: ['it works'],
    dependencies: [],
    deadline_minutes: 30,
    ...change(index),
  }));
  return { summary: '', assignments };
}

const ANSWERS: Record<string, Json> = {
  'review-1': ONE,
  'improve-1': { changes_summary: 'The retry is said.' },
  assign: assigned(['B']),
  close: { summary: 'All is built.', open_points: ['watch the retry'] },
};

/** What turns answer, by task; members who are not named find nothing. */
function play(script: Script & { answers?: Record<string, Json> } = {}, facts: RunFacts = FACTS): Played {
  const playbook = createCouncilPlaybook();
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const answers = { ...ANSWERS, ...script.answers };
  const answer = (task: string) =>
    /^(?:review|verify)/.test(task) ? { output: answers[task] ?? NOTHING } : { output: answers[task] ?? null };
  const turn: Script['turn'] = (one, board) => script.turn?.(one, board) ?? answer(one.task);
  const evidence: Script['evidence'] = (task, seen) =>
    script.evidence?.(task, seen) ??
    (/^(?:improve|answer)/.test(task) ? { changedPaths: ['docs/design.md'] } : undefined);
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { ...script, turn, evidence } });
}

function sentIn(played: Played) {
  return played.effects.flatMap((effect) => (effect.effect === 'send' ? [effect.message] : []));
}

/** Each message as one line. */
function letters(played: Played): string[] {
  return sentIn(played).map(
    ({ from = 'MAIN', to, type, action, key, corr, corrKey }) =>
      `${from} → ${to.join(' ')}: ${type}${action === undefined ? '' : `/${action}`} ${key ?? ''} re ${corr ?? corrKey ?? '-'}`,
  );
}

function order(played: Played): string[] {
  return played.turns.map(({ task, agent }) => `${task} ${agent}`);
}

function statusOf(played: Played, task: string): string | undefined {
  const phase = played.board.tasks.get(task)?.work.phase;
  return phase?.at === 'ended' ? phase.as : phase?.at;
}

let sent = 0;
/** Mail of a turn, in answer to what the playbook sent under that key. */
function reply(
  turn: Pick<Turn, 'task' | 'agent'>,
  re: string,
  more: Partial<Extract<PlanNews, { type: 'mail' }>>,
): PlanNews {
  sent += 1;
  const from = turn.agent === 'main' ? 'MAIN' : turn.agent.toUpperCase();
  const about = { type: 'mail', id: `s-1-${sent}`, from, to: ['MAIN'], kind: 'done', body: {} } as const;
  const asked = { id: 's-1-0', key: re, from: 'MAIN' };
  return { ...about, to: [...about.to], re: asked, corr: 's-1-0', via: turn.task, ...more };
}

describe('council', () => {
  it('titles its tasks in Chinese where the run speaks Chinese, and briefs them in English', () => {
    const played = play({}, { ...FACTS, locale: 'zh' });
    const tasks = ['review-1', 'improve-1', 'verify-1-1', 'assign', 'execute-1', 'close'].map(
      (id) => played.board.tasks.get(id)?.task,
    );
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(tasks.map((task) => task?.title)).toEqual([
      'A 的审查',
      '改进 docs/design.md',
      'A 的复核',
      '分配任务',
      'B：implement',
      '结束议事',
    ]);
    for (const task of tasks) expect(task?.brief.text.replaceAll(/<(\w+)>[^]*?<\/\1>/g, '')).not.toMatch(/[一-鿿]/);
    const [minutes] = createCouncilPlaybook().files?.(createView(played.board)) ?? [];
    // Between the Chinese there are only ids, paths and what agents said.
    const said = [
      ISSUE.summary,
      ISSUE.suggestion,
      'The retry is said.',
      'watch the retry',
      'All is built.',
      FACTS.objective.title,
    ];
    const own = said.reduce((text, words) => text.replaceAll(words, ''), minutes?.text ?? '');
    expect(own.match(/[A-Za-z]{2,} [a-z]{2,}/g)).toEqual(['high func']);
    expect(minutes?.text).toContain('全部工作已交付');
  });

  it('reviews, improves, verifies, assigns, executes and closes, each step as its message', () => {
    const played = play();
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(order(played)).toEqual([
      'review-1 a',
      'review-2 b',
      'review-3 c',
      'improve-1 main',
      'verify-1-1 a',
      'verify-1-2 b',
      'verify-1-3 c',
      'assign main',
      'execute-1 b',
      'close main',
    ]);
    expect(letters(played)).toEqual([
      'MAIN → A B C: ask/review review re -',
      'A → MAIN: report/review_feedback said-review-1 re review',
      'B → MAIN: done said-review-2 re review',
      'C → MAIN: done said-review-3 re review',
      'MAIN → A B C: ask/verify verify-1 re -',
      'A → MAIN: done/verified said-verify-1-1 re verify-1',
      'B → MAIN: done/verified said-verify-1-2 re verify-1',
      'C → MAIN: done/verified said-verify-1-3 re verify-1',
      'MAIN → B: ask/assign assign-execute-1 re -',
      'B → MAIN: done done-execute-1 re assign-execute-1',
    ]);
  });

  it('asks for the review until a moment, of exactly those it writes to, under one name for the document', () => {
    const [review, ...rest] = sentIn(play());
    expect(review).toMatchObject({
      task: 'DOC-19700101-0001',
      body: { doc_path: 'docs/design.md', reviewers: ['A', 'B', 'C'] },
    });
    expect(review?.body['reviewers']).toEqual(review?.to);
    expect(Number(review?.body['review_deadline'])).toBeGreaterThan(1_000_000 + 59 * 60_000);
    expect(rest.filter(({ action }) => action === 'verify').map(({ task }) => task)).toEqual(['DOC-19700101-0001']);
  });

  it('gives MAIN every issue with its author, and the verifiers what was changed', () => {
    const played = play();
    const brief = played.board.tasks.get('improve-1')?.task.brief.text;
    expect(brief).toContain('[A] high func: docs/design.md#L3, src/a.ts#L1\n  The retry is not said.\n  Say it.');
    const verify = sentIn(played).find(({ key }) => key === 'verify-1');
    expect(verify?.body['changes_summary']).toBe('The retry is said.');
    expect(played.board.tasks.get('verify-1-2')?.task.brief.text).toMatch(/docs\/design\.md \(commit c\d+-improve-1\)/);
  });

  it('gives MAIN each issue once and whole, however long they are, and leaves the words of its message out', () => {
    const issues = Array.from({ length: 10 }, (_, index) => ({
      ...ISSUE,
      summary: `${index} ${'What is wrong. '.repeat(150)}`.trim(),
      suggestion: `${index} ${'What to do. '.repeat(70)}`.trim(),
    }));
    const played = play({ answers: { 'review-1': { issues, summary: 'ten', questions: ['How long?'] } } });
    const brief = played.board.tasks.get('improve-1')?.task.brief;
    expect(brief?.text.length).toBeGreaterThan(30_000);
    for (const text of issues.flatMap(({ summary, suggestion }) => [summary, suggestion])) {
      expect(brief?.text.split(text)).toHaveLength(2);
    }
    expect(brief?.text).toMatch(/\[A\] ten\n[^]*\[A\] How long\?/);
    expect(brief?.says).toEqual(['key:said-review-1']);
  });

  it('keeps one session for each agent', () => {
    const keys = new Set(play().turns.map(({ agent, session }) => `${agent} ${session.key}`));
    expect([...keys].toSorted()).toEqual(['a agent/a', 'b agent/b', 'c agent/c', 'main agent/main']);
  });

  it('goes on to the work when nobody finds anything', () => {
    const played = play({ answers: { 'review-1': NOTHING } });
    expect(order(played).filter((turn) => turn.endsWith(' main'))).toEqual(['assign main', 'close main']);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('goes round again as long as something new is found', () => {
    const played = play({ answers: { 'verify-1-2': ONE, 'improve-2': { changes_summary: 'again' } } });
    expect(order(played).slice(3, 12)).toEqual([
      'improve-1 main',
      'verify-1-1 a',
      'verify-1-2 b',
      'verify-1-3 c',
      'improve-2 main',
      'verify-2-1 a',
      'verify-2-2 b',
      'verify-2-3 c',
      'assign main',
    ]);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('builds nothing on a document that is never agreed on, and says so', () => {
    const facts = { ...FACTS, options: { reviewRounds: 2 } };
    const played = play({ answers: { 'verify-1-1': ONE, 'verify-2-1': ONE } }, facts);
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringMatching(/still open after 2 rounds/) });
    expect(order(played).slice(-4)).toEqual(['verify-2-1 a', 'verify-2-2 b', 'verify-2-3 c', 'close main']);
  });

  it('lets MAIN change nothing but documentation', () => {
    const played = play({
      evidence: (task) => (task === 'improve-1' ? { changedPaths: ['docs/design.md', 'src/a.ts'] } : undefined),
    });
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringMatching(/these files did: src\/a\.ts/) });
    expect(order(played)).not.toContain('assign main');
  });

  it('assigns in the order of what depends on what', () => {
    const answer = assigned(['B', 'C'], (index) => (index === 0 ? { dependencies: ['T-1'] } : {}));
    const played = play({ answers: { assign: answer } });
    expect(order(played).slice(8, 10)).toEqual(['execute-1 c', 'execute-2 b']);
    const last = sentIn(played).find(({ key }) => key === 'assign-execute-2');
    expect(last?.body['dependencies']).toEqual(['execute-1']);
  });

  it.each([
    ['to nobody who sits in it', assigned(['Z']), /one of A, B, C/],
    [
      'of nothing that can be checked',
      assigned(['A'], () => ({ success_criteria: ['  '] })),
      /at least one success criterion/,
    ],
    [
      'twice under one name',
      assigned(['A', 'B'], () => ({ task_id: 'T' })),
      /`task_id` must not be empty or repeat that of another assignment/,
    ],
    [
      'that need each other',
      assigned(['A', 'B'], (index) => ({ dependencies: [`T-${1 - index}`] })),
      /depend on each other in a circle/,
    ],
    [
      'on what is not there',
      assigned(['A'], () => ({ dependencies: ['nope'] })),
      /unknown dependencies .*; known assignments: /,
    ],
  ])('asks MAIN once more about assignments %s', (_title, answer, problem) => {
    const played = play({
      turn: ({ task, prompt }) =>
        task === 'assign' ? { output: prompt.why === 'start' ? answer : assigned(['A']) } : undefined,
    });
    const again = played.turns.filter(({ task }) => task === 'assign')[1];
    expect(again?.prompt).toMatchObject({ why: 'feedback', text: expect.stringMatching(problem) });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(play({ answers: { assign: answer } }).end).toMatchObject({ outcome: 'failed' });
  });

  it('ends after the document where MAIN assigns nothing', () => {
    const played = play({ answers: { assign: assigned([]) } });
    expect(order(played).at(-1)).toBe('close main');
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('tells of work that failed, cancels what needs it, and still closes', () => {
    const answer = assigned(['B', 'C'], (index) => (index === 1 ? { dependencies: ['T-0'] } : {}));
    const played = play({
      answers: { assign: answer },
      evidence: (task) => (task === 'execute-1' ? { commit: null, commits: 0, changedPaths: [] } : undefined),
    });
    expect([statusOf(played, 'execute-1'), statusOf(played, 'execute-2')]).toEqual(['failed', 'cancelled']);
    expect(letters(played).slice(-2)).toEqual([
      'B → MAIN: fail fail-execute-1 re assign-execute-1',
      'C → MAIN: fail fail-execute-2 re assign-execute-2',
    ]);
    expect(order(played).at(-1)).toBe('close main');
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringMatching(/^execute-1: no commit/) });
  });

  it('keeps minutes of all of it', () => {
    const played = play({ answers: { 'verify-1-2': ONE } });
    const [file] = createCouncilPlaybook().files?.(createView(played.board)) ?? [];
    expect(file?.path).toBe('council.md');
    expect(file?.text).toContain('| A | by message | 1 | one |');
    expect(file?.text).toContain('- A, high func, docs/design.md#L3, src/a.ts#L1: The retry is not said. Say it.');
    expect(file?.text).toMatch(/Improvement 1: done \(c\d+-improve-1\)\. The retry is said\./);
    expect(file?.text).toContain('## Verification 2');
    expect(file?.text).toMatch(/\| execute-1 \| B \| implement \| done \(c\d+-execute-1\) \|/);
    expect(file?.text).toContain('- watch the retry');
  });
});

const QUESTION = { question: 'Which port?', context: '-', code_path: 'src/a.ts#L1' };

function minutes(played: ReturnType<typeof play>): string {
  return createCouncilPlaybook().files?.(createView(played.board))[0]?.text ?? '';
}

function reported(turn: Turn, change: Readonly<Record<string, Json>>, more: Readonly<Record<string, Json>> = {}) {
  const body = { has_issues: true, issues: [{ ...ISSUE, ...change }], summary: 'told', ...more };
  return reply(turn, 'review', { kind: 'report', action: 'review_feedback', body });
}

describe('what a member says by a tool', () => {
  it.each<[string, Record<string, Json>, Record<string, Json>, boolean]>([
    ['all that it says is', {}, {}, true],
    ['its group and its lines are', { issue_group: 'G1', code_span: { start_line: 3, end_line: 9 } }, {}, true],
    ['a field of its own is not', {}, { risk: 'high' }, false],
    ['a field of an issue is not', { example: 'a 503' }, {}, false],
  ])('is quoted to MAIN as mail only where it is not in the task whole: %s', (_, change, more, isIn) => {
    const played = play({ mail: (turn) => (turn.task === 'review-1' ? [reported(turn, change, more)] : []) });
    const brief = played.board.tasks.get('improve-1')?.task.brief;
    const report = [...played.board.mail.values()].find(({ type }) => type === 'report');
    expect(brief?.says).toEqual(isIn ? [report?.id] : []);
    for (const value of isIn ? Object.values(change).flatMap((one) => Object.values(one ?? {})) : [])
      expect(brief?.text).toContain(String(value));
  });

  it.each(['before its turn ends', 'with the end of its turn'])('counts, and nothing is sent again: %s', (when) => {
    const report = (turn: Turn) => reported(turn, { summary: 'By the tool.' });
    const held = when.startsWith('with');
    const waiting: PlanNews[] = [];
    const played = play({
      turn: (turn) => {
        if (turn.task === 'review-1' && !held) waiting.push(report(turn));
        return undefined;
      },
      outside: () => waiting.shift(),
      mail: (turn) => (turn.task === 'review-1' && held ? [report(turn)] : []),
    });
    expect(played.board.tasks.get('improve-1')?.task.brief.text).toContain('By the tool.');
    expect(played.board.tasks.get('improve-1')?.task.brief.text).not.toContain(ISSUE.summary);
    expect(letters(played)).not.toContain('A → MAIN: report/review_feedback said-review-1 re review');
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('counts for a verification too, and so does a done that names new issues without them', () => {
    const played = play({
      answers: { 'improve-2': { changes_summary: 'again' } },
      mail: (turn) =>
        turn.task === 'verify-1-3'
          ? [reply(turn, 'verify-1', { action: 'verified', body: { has_new_issues: true, new_issue_count: 1 } })]
          : [],
    });
    expect(played.board.tasks.get('improve-2')?.task.brief.text).toMatch(/C found issues: they are in its message/);
    expect(letters(played)).not.toContain('C → MAIN: done/verified said-verify-1-3 re verify-1');
  });

  it('is not answered for, where the work has ended as it said', () => {
    const played = play({ mail: (turn) => (turn.task === 'execute-1' ? [reply(turn, 'assign-execute-1', {})] : []) });
    expect(letters(played).at(-1)).toBe('MAIN → B: ask/assign assign-execute-1 re -');
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('ends its work honestly with a fail', () => {
    const played = play({
      mail: (turn) =>
        turn.task === 'execute-1'
          ? [reply(turn, 'assign-execute-1', { kind: 'fail', body: { reason: 'no such API', blocked_by: [] } })]
          : [],
    });
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringMatching(/B gave up: no such API/) });
    expect(played.turns.filter(({ task }) => task === 'execute-1')).toHaveLength(1);
    expect(order(played).at(-1)).toBe('close main');
  });

  it('hears from the router, and not from MAIN, that the turn that was to answer has failed', () => {
    let asked: PlanNews | undefined;
    const played = play({
      turn: (turn) => {
        if (turn.task.startsWith('answer-')) return failed('model-refused');
        return turn.task === 'execute-1' && asked?.type === 'mail' && turn.prompt.why === 'start'
          ? { awaits: [asked.id] }
          : undefined;
      },
      outside: (board) => {
        if (asked !== undefined || board.tasks.get('execute-1')?.work.author.state.at !== 'live') return undefined;
        const question = { kind: 'ask', action: 'clarify', re: undefined, corr: undefined, body: QUESTION } as const;
        asked = reply({ task: 'execute-1', agent: 'b' }, 'none', question);
        return asked;
      },
    });
    expect(letters(played)).not.toContainEqual(expect.stringMatching(/^MAIN → B: send\/answer /));
    expect(letters(played)).toContainEqual(expect.stringMatching(/^ROUTER → B: fail /));
    expect(played.turns.filter(({ task }) => task === 'execute-1')).toHaveLength(2);
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(minutes(played)).toContain('- B: Which port? (src/a.ts#L1) — no one answered');
  });

  it('has the merged work repaired by who built last, also after MAIN answered a question in the documents', () => {
    let asked: PlanNews | undefined;
    const command = 'test -f nowhere.txt';
    const objective = { ...FACTS.objective, criteria: [{ text: 'it is there', command }] };
    const script: Script = {
      turn: (turn) => {
        if (turn.task.startsWith('answer-')) return { output: ANSWERED };
        return turn.task === 'execute-1' && asked?.type === 'mail' && turn.prompt.why === 'start'
          ? { awaits: [asked.id] }
          : undefined;
      },
      outside: (board) => {
        if (asked !== undefined || board.tasks.get('execute-1')?.work.author.state.at !== 'live') return undefined;
        const question = { kind: 'ask', action: 'clarify', re: undefined, corr: undefined } as const;
        asked = reply({ task: 'execute-1', agent: 'b' }, 'none', question);
        return asked;
      },
      gate: (board) => (board.tasks.has('fix-1') ? undefined : { failing: [command] }),
    };
    const played = play(script, { ...FACTS, objective });
    expect(order(played)).toContain('fix-1 b');
    expect(played.board.tasks.get('fix-1')?.task.requires).toEqual(played.board.tasks.get('execute-1')?.task.requires);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('waits for MAIN, who writes before it answers, and the work goes on in the same session', () => {
    let asked: PlanNews | undefined;
    const played = play({
      turn: (turn) => {
        if (turn.task.startsWith('answer-')) return { output: ANSWERED };
        return turn.task === 'execute-1' && asked?.type === 'mail' && turn.prompt.why === 'start'
          ? { awaits: [asked.id] }
          : undefined;
      },
      outside: (board) => {
        if (asked !== undefined || board.tasks.get('execute-1')?.work.author.state.at !== 'live') return undefined;
        asked = reply({ task: 'execute-1', agent: 'b' }, 'none', {
          kind: 'ask',
          action: 'clarify',
          re: undefined,
          corr: undefined,
          body: QUESTION,
        });
        return asked;
      },
    });
    expect(minutes(played)).toContain('- B: Which port? (src/a.ts#L1) — answered by MAIN: the first one');
    const turns = order(played).slice(8);
    expect(turns).toEqual([
      'execute-1 b',
      expect.stringMatching(/^answer-\d+-main main$/),
      'execute-1 b',
      'close main',
    ]);
    const answer = played.turns[9];
    expect(answer?.session.key).toBe('agent/main');
    expect(played.board.tasks.get(answer?.task ?? '')?.task.requires).toContainEqual(
      expect.objectContaining({ kind: 'only' }),
    );
    expect(letters(played)).toContainEqual(expect.stringMatching(/^MAIN → B: send\/answer /));
    expect(played.end).toMatchObject({ outcome: 'done' });
  });
});

describe('what MAIN sends by a tool', () => {
  const assign = (turn: Turn, to: string[], more: object = {}) =>
    reply(turn, 'none', {
      kind: 'ask',
      action: 'assign',
      to,
      task: 'FEAT-001',
      re: undefined,
      corr: undefined,
      body: { task_type: 'implement', files: [], success_criteria: ['ok'], dependencies: [], ...more },
    });

  it('is there besides what it answers, each once', () => {
    const played = play({ mail: (turn) => (turn.task === 'assign' ? [assign(turn, ['A', 'C'])] : []) });
    expect(order(played).slice(8)).toEqual(['execute-1 a', 'execute-2 c', 'execute-3 b', 'close main']);
    expect(letters(played).filter((letter) => letter.includes('ask/assign'))).toEqual([
      'MAIN → B: ask/assign assign-execute-3 re -',
    ]);
    expect(played.board.tasks.get('execute-1')?.task.brief.mail).toHaveLength(1);
    expect(letters(played).filter((letter) => letter.includes('done-execute'))).toHaveLength(3);
  });

  it.each([
    ['under the same id', assigned(['C'], () => ({ task_id: ' feat-001 ' }))],
    ['in the same words', assigned(['A'], () => ({ summary: '', files: [], success_criteria: ['ok'] }))],
  ])('is not assigned again by an answer %s', (_title, answer) => {
    const played = play({
      answers: { assign: answer },
      mail: (turn) => (turn.task === 'assign' ? [assign(turn, ['A'])] : []),
    });
    expect(order(played).slice(8)).toEqual(['execute-1 a', 'close main']);
  });

  it('is what an answered assignment can wait for', () => {
    const played = play({
      answers: { assign: assigned(['B', 'C'], (index) => ({ dependencies: index === 0 ? ['T-1', 'FEAT-001'] : [] })) },
      mail: (turn) => (turn.task === 'assign' ? [assign(turn, ['A'])] : []),
    });
    const needs = [1, 2, 3].map((index) => played.board.tasks.get(`execute-${index}`)?.task);
    expect(needs.map((task) => [task?.agent, task?.needs])).toEqual([
      ['a', []],
      ['c', []],
      ['b', ['execute-1', 'execute-2']],
    ]);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('is there once, as it was said last, where its answer had to be given again', () => {
    const played = play({
      turn: ({ task, prompt }) =>
        task === 'assign' ? { output: prompt.why === 'start' ? assigned(['Z']) : assigned(['B']) } : undefined,
      mail: (turn) =>
        turn.task === 'assign' ? [assign(turn, ['A'], { summary: `said after ${turn.prompt.why}` })] : [],
    });
    expect(order(played).slice(9)).toEqual(['execute-1 a', 'execute-2 b', 'close main']);
    expect(played.board.tasks.get('execute-1')?.task.brief.text).toContain('said after feedback');
  });

  it('may come before its time, and waits for it', () => {
    const played = play({
      answers: { assign: assigned([]) },
      mail: (turn) => (turn.task === 'improve-1' ? [assign(turn, ['B'])] : []),
    });
    expect(order(played).slice(3)).toEqual([
      'improve-1 main',
      'verify-1-1 a',
      'verify-1-2 b',
      'verify-1-3 c',
      'assign main',
      'execute-1 b',
      'close main',
    ]);
  });

  it('depends on what was assigned before', () => {
    const played = play({
      mail: (turn) =>
        turn.task === 'assign'
          ? [assign(turn, ['A']), assign(turn, ['B'], { dependencies: ['FEAT-001', 'DOC-19700101-0001'] })]
          : [],
    });
    expect(played.board.tasks.get('execute-2')?.task.needs).toEqual(['execute-1']);
  });

  it('does not ask for a review or a verification besides the council’s own', () => {
    const played = play({
      mail: (turn) =>
        turn.task === 'improve-1'
          ? [reply(turn, 'none', { kind: 'ask', action: 'verify', to: ['A'], re: undefined, corr: undefined })]
          : [],
    });
    expect(letters(played)).toContainEqual(expect.stringMatching(/^ROUTER → MAIN: fail /));
    expect(order(played)).toHaveLength(10);
  });
});

describe('a member of whom nothing is heard', () => {
  /** `key` runs out for `who` as soon as its turn lives. */
  function late(key: string, task: string, who: string, action: MailAction): Script {
    let told = false;
    return {
      // Whoever it waits for is at work for ever: everybody else goes first.
      choose: (count) => (told ? 0 : count - 1),
      outside: (board: Board) => {
        if (told || board.tasks.get(task)?.work.author.state.at !== 'live') return undefined;
        told = true;
        return { type: 'overdue', message: 's-1-0', to: who, action, key };
      },
    };
  }

  it('at the review’s deadline is done with, and the run says so', () => {
    const played = play(late('review', 'review-2', 'B', 'review'));
    expect(statusOf(played, 'review-2')).toBe('skipped');
    expect(played.end).toMatchObject({
      outcome: 'done',
      why: expect.stringContaining('review: no answer from B (silent)'),
    });
    expect(concludeRun({ board: played.board, problem: undefined, strict: true })).toMatchObject({
      headline: expect.stringContaining(
        'review-2 was skipped, and the run continued without it; open: watch the retry',
      ),
      exitCode: 1,
    });
    expect(played.board.tasks.get('assign')).toBeDefined();
    const [file] = createCouncilPlaybook().files?.(createView(played.board)) ?? [];
    expect(file?.text).toContain('| B | silent: approves nothing | 0 |  |');
  });

  it('in a verification has found nothing new', () => {
    const played = play(late('verify-1', 'verify-1-1', 'A', 'verify'));
    expect(played.end).toMatchObject({
      outcome: 'done',
      why: expect.stringContaining('verify-1: no answer from A (silent)'),
    });
  });

  it('at the deadline of its work has failed it', () => {
    const played = play(late('assign-execute-1', 'execute-1', 'B', 'assign'));
    expect(played.end).toMatchObject({
      outcome: 'failed',
      why: expect.stringContaining('execute-1: its deadline has passed'),
    });
  });

  it('is told of where nobody verified at all', () => {
    const played = play({ turn: ({ task }) => (task.startsWith('verify-') ? failed('bad-request') : undefined) });
    expect(played.end).toMatchObject({
      outcome: 'done',
      why: expect.stringContaining('verify-1: no member answered: A (failed), B (failed), C (failed)'),
    });
  });

  it('is no council where none of them could review', () => {
    const played = play({ turn: ({ task }) => (task.startsWith('review-') ? failed('bad-request') : undefined) });
    expect(played.end).toMatchObject({ outcome: 'failed', why: 'no member could review' });
    expect(played.turns.every(({ task }) => task.startsWith('review-'))).toBe(true);
  });
});

describe('what a council is about', () => {
  const parse = (facts: RunFacts) => createCouncilPlaybook().parse(facts);
  const about = (text: string, options: Json = {}) => {
    const parsed = parse({ ...FACTS, options, objective: { ...FACTS.objective, text } });
    return parsed.ok ? [parsed.input.document, parsed.input.ofDocument, parsed.input.codePaths] : parsed.errors;
  };

  it.each([
    ['Improve docs/design.md and README.md', 'docs/design.md', true, []],
    ['See https://example.test/docs/a.md', 'docs/council.md', false, []],
    ['Mend ./notes/plan.md', 'notes/plan.md', true, []],
    ['Read ../../etc/passwd.md', 'docs/council.md', false, []],
    ['Look at `src/router.ts` and `lib/`, and/or `npm`', 'docs/council.md', false, ['src/router.ts', 'lib/']],
    ['`docs/a.md` is about `src/a.ts`', 'docs/a.md', true, ['src/a.ts']],
  ])('%j', (text, document, ofDocument, paths) => {
    expect(about(text)).toEqual([document, ofDocument, paths]);
  });

  it('is what the settings name, first of all', () => {
    expect(about('Improve docs/design.md', { document: 'spec.md' })).toEqual(['spec.md', true, []]);
  });

  it.each([
    [[member('a', 'member')], ['council needs one agent with the role main']],
    [[member('x', 'main'), member('y', 'main'), member('a', 'member')], ['council needs one agent with the role main']],
    [[member('main', 'main')], ['council needs at least one agent with the role member']],
  ])('needs its people', (roster, errors) => {
    expect(parse({ ...FACTS, roster })).toEqual({ ok: false, errors });
  });
});
