import type { FailureKind } from '../../../src/model/failure.ts';
import type { Json } from '../../../src/text/json.ts';
import type { Usage } from '../../../src/model/usage.ts';
import { documentPath, documentText } from '../../support/objective-documents.ts';
import type { VirtualTime } from '../../support/virtual-time.ts';
import { ALL_FIXED, finding } from '../../support/findings.ts';
import { draw, drawInt, drawOf } from './draw.ts';
import { conflictIn, formOf, isReview, type Cast, type Cue, type Part } from './simulated-agents.ts';

/** How things go in one world; numbers without a unit are shares of all turns. */
export interface Mood {
  readonly failures: number;
  readonly limits: number;
  readonly rejections: number;
  /** Says that it is done, and did nothing. */
  readonly lies: number;
  readonly conflicts: number;
  /** Never uses a tool. */
  readonly walls: number;
  /** Failures of the machine too, which a crash adds to. */
  readonly infrastructure: boolean;
  /** Unknown use, and absurd numbers. */
  readonly wildUsage: boolean;
  readonly givesUp: boolean;
  readonly tasks: number;
  readonly shape: 'chain' | 'fan' | 'diamond' | 'any';
  readonly failingVerify: number;
  readonly longestTurnMs: number;
}

const OF_THE_MACHINE: readonly [FailureKind, ...FailureKind[]] = [
  'session-not-found',
  'instructions-changed',
  'session-busy',
  'crashed',
  'lost',
];
const OF_THE_WORK: readonly [FailureKind, ...FailureKind[]] = [
  'server-error',
  'network',
  'stalled',
  'auth',
  'billing',
  'context-overflow',
  'output-truncated',
  'model-refused',
  'model-unavailable',
  'bad-request',
  'bad-output',
  'step-limit',
  'cost-limit',
  'wall-timeout',
  'output-flood',
  'setting-unsupported',
  'mcp-unavailable',
  'cli-missing',
  'cli-unsupported',
  'sandbox-unavailable',
  'protocol',
];
const LIMITS: readonly [FailureKind, ...FailureKind[]] = ['rate-limited', 'overloaded', 'quota-exhausted'];

/** Agents of one world: what each does with a turn follows from the seed, its task and how many it has had. */
export function seededCast(seed: number, mood: Mood, time: VirtualTime): Cast {
  return (cue) => {
    const key = [cue.task, formOf(cue.request), cue.number] as const;
    if (cue.runtime === 'check')
      return checkPart(draw(seed, 'check', cue.request.prompt, cue.number) < mood.failingVerify);
    const ms = drawInt(50, mood.longestTurnMs, seed, 'ms', ...key);
    const known = { ms, toolMs: ms / 4, usage: usageOf(seed, mood, key) };
    const luck = draw(seed, 'luck', ...key);
    if (luck < mood.failures) {
      const kinds = mood.infrastructure && draw(seed, 'machine', ...key) < 0.3 ? OF_THE_MACHINE : OF_THE_WORK;
      return failed(known, drawOf(kinds, seed, 'kind', ...key), draw(seed, 'acted', ...key) < 0.5);
    }
    if (luck < mood.failures + mood.limits) {
      const part = failed(known, drawOf(LIMITS, seed, 'kind', ...key), draw(seed, 'acted', ...key) < 0.5);
      return draw(seed, 'dated', ...key) < 0.5
        ? part
        : dated(part, time.now() + drawInt(-60, 900, seed, 'reset', ...key) * 1_000);
    }
    return completed(seed, mood, cue, known);
  };
}

interface Known {
  readonly ms: number;
  readonly toolMs: number;
  readonly usage: Usage | undefined;
}

function completed(seed: number, mood: Mood, cue: Cue, { ms, toolMs, usage }: Known): Part {
  const { task, request, number } = cue;
  const structured = answerOf(seed, mood, cue);
  const lies = draw(seed, 'lie', task, number) < mood.lies;
  const stalled = draw(seed, 'wall', task, number) < mood.walls;
  const conflicts = draw(seed, 'conflict', task) < mood.conflicts;
  const files = {
    // Who only commits what others did writes nothing.
    ...(task.endsWith('-commit') ? {} : { [`${task}.txt`]: `${task} by turn ${number}` }),
    ...(conflicts ? { 'shared.txt': `${task} by turn ${number}` } : {}),
  };
  const document = documentPath('simulated', task);
  return {
    ms: stalled ? 400_000 : ms,
    ...(stalled ? {} : { toolMs }),
    result: {
      outcome: 'completed',
      text: `${task} is done`,
      ...(structured === undefined ? {} : { structured }),
      ...(usage === undefined ? {} : { usage }),
    },
    // Some that write a document answer in a form too.
    ...(lies || (formOf(request) !== '' && (document === undefined || isReview(request)))
      ? {}
      : {
          deed: {
            writes: document === undefined ? files : { [document]: documentText(task, `by turn ${number}`) },
            merges: conflictIn(request.prompt),
            commits: draw(seed, 'commits', task, number) < 0.9,
          },
        }),
  };
}

/** By the form that is asked for; undefined: none is. */
function answerOf(seed: number, mood: Mood, { request, task, number }: Cue): Json | undefined {
  const form = formOf(request);
  const rejected = draw(seed, 'verdict', task, form, number) < mood.rejections;
  switch (form) {
    case '':
      return undefined;
    case 'approved checks findings settled summary': {
      const blocks = draw(seed, 'new harm', task, number) < 0.2 ? 'new-harm' : 'defect';
      const findings = rejected ? [finding(`finding ${number}`, { blocks, criterion: null })] : [];
      return { approved: !rejected, summary: rejected ? 'not yet' : 'good', findings, settled: ALL_FIXED };
    }
    case 'summary tasks':
      return draw(seed, 'bad plan', number) < mood.lies
        ? { summary: 'a plan', tasks: [] }
        : { summary: 'a plan', tasks: plannedTasks(seed, mood) };
    case 'criteria summary tasks':
      return { summary: 'a plan', tasks: plannedTasks(seed, mood), criteria: [] };
    case 'failures passed summary': {
      const passed = draw(seed, 'tested', task, number) > mood.rejections / 4;
      return { passed, summary: 'tested', failures: passed ? [] : ['it fails'] };
    }
    case 'tasks':
      return {
        tasks: draw(seed, 'bad plan', number) < mood.lies ? [] : plannedTasks(seed, mood).map((one) => withPaths(one)),
      };
    case 'approved criteria findings summary': {
      const approved = draw(seed, 'judged', task, number) > mood.lies;
      const finding = { file: null, line: null, problem: `problem ${number}`, suggestion: null };
      return {
        ...{ approved, summary: 'judged', findings: approved ? [] : [finding] },
        criteria: draw(seed, 'criterion') < 0.3 ? [] : [verdictOf(seed, number)],
      };
    }
    case 'followUps left summary tryIt':
      return { summary: 'built', tryIt: [], left: [], followUps: [] };
    case 'verdicts':
      return { verdicts: draw(seed, 'silent judge', number) < mood.lies ? [] : [verdictOf(seed, number)] };
    default:
      throw new Error(`no agent here knows the form: ${form}`);
  }
}

/** About the one criterion there is. The file is in the repository from the start. */
function verdictOf(seed: number, number: number): Json {
  const met = draw(seed, 'met', number) > 0.1;
  const evidence = met ? { file: 'readme.md', line: 1, quote: 'a repository' } : null;
  return { criterion: 'C1', met, evidence, why: met ? 'seen' : 'missing' };
}

/** For a plan whose tasks have paths and no roles. */
function withPaths(task: ReturnType<typeof plannedTasks>[number]): Json {
  const { role: _, ...rest } = task;
  return { ...rest, paths: [`${task.id}.txt`] };
}

function plannedTasks(seed: number, { tasks, shape }: Mood) {
  return Array.from({ length: tasks }, (_, index) => ({
    id: `t${index + 1}`,
    title: `Task ${index + 1}`,
    role: 'builder',
    needs: needsOf(seed, shape, index, tasks),
    brief: `Build part ${index + 1}.`,
    acceptance: ['it works'],
  }));
}

function needsOf(seed: number, shape: Mood['shape'], index: number, tasks: number): string[] {
  const before = Array.from({ length: index }, (_, other) => `t${other + 1}`);
  switch (shape) {
    case 'fan':
      return [];
    case 'chain':
      return before.slice(-1);
    case 'diamond':
      if (index === 0) return [];
      return index === tasks - 1 ? (tasks === 2 ? before : before.slice(1)) : ['t1'];
    case 'any':
      return before.filter((other) => draw(seed, 'needs', index, other) < 0.4);
  }
}

function usageOf(seed: number, { wildUsage }: Mood, key: readonly (string | number)[]): Usage | undefined {
  const usage = {
    inputTokens: drawInt(100, 20_000, seed, 'input', ...key),
    cachedInputTokens: 0,
    outputTokens: drawInt(10, 2_000, seed, 'output', ...key),
  };
  const costUsd = drawInt(0, 100, seed, 'cost', ...key) / 100;
  const wild = wildUsage ? draw(seed, 'wild', ...key) : 1;
  if (wild < 0.1) return undefined;
  if (wild < 0.2) return usage;
  if (wild < 0.22) return { ...usage, inputTokens: Number.MAX_SAFE_INTEGER, costUsd };
  return { ...usage, costUsd };
}

function failed({ ms, toolMs, usage }: Known, kind: FailureKind, mayHaveActed: boolean): Part {
  const outcome = kind === 'wall-timeout' || kind === 'stalled' ? 'timed-out' : 'failed';
  const failure = { kind, message: `simulated: ${kind}`, mayHaveActed };
  return { ms, toolMs, result: { outcome, failure, ...(usage === undefined ? {} : { usage }) } };
}

function dated(part: Part, retryAt: number): Part {
  const { failure } = part.result;
  return failure === undefined ? part : { ...part, result: { ...part.result, failure: { ...failure, retryAt } } };
}

function checkPart(fails: boolean): Part {
  const failure = { kind: 'bad-output' as const, message: 'exit 1', mayHaveActed: true };
  const result = fails
    ? { outcome: 'failed' as const, text: 'it fails', failure, exit: { code: 1, signal: null } }
    : { outcome: 'completed' as const, text: 'ok' };
  return { ms: 700, result };
}
