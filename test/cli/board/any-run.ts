import * as fc from 'fast-check';
import { RUN_OUTCOMES } from '../../../src/model/run-state.ts';
import { TASK_STATUSES } from '../../../src/model/plan/task.ts';
import type { RunEvent } from '../../../src/model/run-event.ts';

const HOSTILE = [
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u009b2J',
  '\r\n\t\b',
  '\u202Eevil\u2066',
  '日本語のとても長い題名',
  'e\u0301\u0302\u0303',
  '👩‍👩‍👧‍👦🇩🇪👍🏽',
  '\u0000\u007f\u0085\u2028',
  'word '.repeat(40),
  'unbroken'.repeat(30),
  '\ud800',
];

/** Text as an agent or a file may have it: words, escape sequences, wide characters, combining marks, halves of pairs. */
const text = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 6 })
  .map((parts) => parts.join(' '));
const name = fc.constantFrom('builder-1', 'reviewer', 'a-quite-long-name-of-an-agent-1', 'x');
const task = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map((n) => `task-${n}`),
  fc.constant('a-very-long-name-of-a-task-on-it'),
);
const moment = fc.integer({ min: 0, max: 2_000_000_000_000 });
const base = { at: moment, runId: fc.constant('r') };
const attempt = { attemptId: fc.integer({ min: 0, max: 9 }).map((n) => `a-${n}`), task, agent: name };

function event(type: RunEvent['type'], fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<RunEvent> {
  return fc.record({ type: fc.constant(type), ...base, ...fields }) as fc.Arbitrary<RunEvent>;
}

const agents = fc.uniqueArray(
  fc.record({
    name,
    role: fc.constant('builder'),
    runtime: fc.constant('claude'),
    model: text,
    account: fc.constant('claude'),
  }),
  { selector: (one) => one.name, maxLength: 4 },
);
const limits = fc.constant({ minutes: 480, usd: 20, turns: 200, parallel: 6 });
const kind = fc.constantFrom('turn', 'check');
const options = fc.array(text, { maxLength: 4 });
const commands = fc.array(text, { maxLength: 2 });

/** Any event of a run that a frame hears of. */
const anyEvent = fc.oneof(
  event('run-defined', { name, title: text, playbook: name, agents, limits }),
  event('run-started', { name, resumed: fc.boolean(), playbook: name, branch: text, base: text, agents }),
  event('task-changed', {
    task,
    title: text,
    role: name,
    status: fc.constantFrom(...TASK_STATUSES),
    round: fc.nat(12),
    why: text,
  }),
  event('task-returned', { task, from: fc.constantFrom('evidence', 'conflict', 'verify', 'playbook'), why: text }),
  event('stage-changed', {
    stage: fc.record({
      id: fc.oneof(
        fc.integer({ min: 0, max: 20 }).map((n) => `STAGE_${n}`),
        text,
      ),
      title: text,
      state: fc.constantFrom('waiting', 'live', 'done', 'failed', 'skipped'),
      by: commands,
      tasks: fc.array(task, { maxLength: 3 }),
      round: fc.option(fc.record({ taken: fc.nat(9), cap: fc.constant(4) }), { nil: undefined }),
      startedAt: fc.option(moment, { nil: undefined }),
      endedAt: fc.option(moment, { nil: undefined }),
    }),
    ...{ place: fc.nat(20), of: fc.nat(20), change: fc.constantFrom('state', 'rounds', 'agents') },
  }),
  event('attempt-taken', {
    ...attempt,
    kind,
    runtime: name,
    how: fc.constantFrom('started', 'started-again', 'attached'),
  }),
  event('attempt-ended', {
    ...attempt,
    ...{ kind, outcome: fc.constantFrom('completed', 'failed'), durationMs: fc.nat(100_000_000) },
    failure: fc.record({ kind: fc.constant('stalled'), message: text, mayHaveActed: fc.boolean() }),
  }),
  event('decided', { next: fc.constantFrom('start', 'wait', 'ask', 'finish', 'stop'), why: text, until: moment }),
  event('review-round', { task, round: fc.nat(9), commit: text, approved: fc.boolean(), feedback: text }),
  event('question-asked', { question: text, text, options, tasks: fc.array(task, { maxLength: 2 }) }),
  event('question-answered', { question: text, answer: text }),
  event('pause-changed', {
    scope: fc.oneof(fc.constant('run'), text),
    verb: fc.constantFrom('pause', 'drain', null),
    by: text,
  }),
  event('account-changed', { account: text, state: fc.constantFrom('works', 'limited', 'locked-out'), until: moment }),
  event('limits-changed', { limits }),
  event('gate-checked', {
    head: text,
    passed: fc.nat(9),
    failed: commands,
    result: fc.constantFrom('finished', 'void', 'refused'),
  }),
  event('intervened', { verb: name, by: text, on: text, text }),
  event('mail', { from: name, to: commands, kind: name, line: text }),
  event('mail-overdue', { message: text, to: text, action: name }),
  event('warning', { text }),
  event('session-announced', { ...attempt, id: text, model: text, resumed: fc.boolean(), mcp: fc.constant([]) }),
  event('text', { ...attempt, text, delta: fc.boolean() }),
  event('thinking', { ...attempt, text }),
  event('tool-started', {
    ...attempt,
    id: text,
    tool: text,
    kind: fc.constant('edit'),
    input: fc.record({ command: text }),
  }),
  event('tool-ended', { ...attempt, id: text, ok: fc.boolean(), denied: fc.boolean(), output: text }),
  event('files-changed', {
    ...attempt,
    changes: fc.array(fc.record({ path: text, kind: fc.constant('add') }), { maxLength: 3 }),
  }),
  event('retry-scheduled', { ...attempt, failure: fc.constant('overloaded'), message: text }),
  event('notice', { ...attempt, text }),
  event('run-ended', { name, outcome: fc.constantFrom(...RUN_OUTCOMES), headline: text, why: text, next: commands }),
);

export const anyRun = fc.array(anyEvent, { maxLength: 60 });
export const anyLine = text;
