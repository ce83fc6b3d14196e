import { acceptEvent } from '../../src/rules/accept-event.ts';
import { advancePlan, withProblems } from '../../src/rules/plan-step.ts';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard, type BoardStep } from '../../src/rules/board.ts';
import type { Start } from '../../src/rules/frontier.ts';
import { isGateDue, isRestoreDue, verdictsAt } from '../../src/rules/gate.ts';
import { decideNext, type Next, type OpenQuestion } from '../../src/rules/next.ts';
import { foldEntry } from '../../src/rules/plan-step.ts';
import { unwantedAttempts } from '../../src/rules/work-requests.ts';
import type { Playbook } from '../../src/model/plan.ts';
import { DEFAULT_PLAN_LIMITS, type Board, type Member, type RunFacts } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { PlanEffect } from '../../src/model/plan/effect.ts';
import type { PlanEntry } from '../../src/model/plan/entry.ts';
import type { PlanEvent, PlanNews, PlaybookEvent } from '../../src/model/plan/event.ts';
import { criterionLabel, type GateFacts } from '../../src/model/plan/gate.ts';
import type { EvidenceFacts } from '../../src/model/plan/evidence.ts';
import type { Requirement } from '../../src/model/plan/task.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import { ALL_FIXED, finding, found as foundAll, quoting } from '../support/findings.ts';

export type Turn = Extract<Start, { start: 'turn' }>;
type Settled = Omit<Extract<WorkEvent, { type: 'attempt-settled' }>, 'type' | 'attempt'>;

/** What the world answers; all have a friendly default. */
export interface Script {
  turn?(turn: Turn, board: Board): Partial<Settled> | undefined;
  evidence?(task: string, facts: EvidenceFacts): Partial<EvidenceFacts> | undefined;
  conflict?(task: string): string[] | undefined;
  verify?(task: string): string | undefined;
  /** Commands that fail, and whatever else is not as it should be. */
  gate?(board: Board): Gate | undefined;
  answer?(question: OpenQuestion): string | undefined;
  /** Which of so many things under way happens next. */
  choose?(count: number): number;
  /** Before each decision: what a person or the mail brings in. */
  outside?(board: Board, step: number): PlanNews | readonly PlanNews[] | undefined;
  /** What a turn sent that took effect with its end. */
  mail?(turn: Turn, board: Board): readonly PlanNews[];
}

type Pending =
  | { what: 'turn'; turn: Turn; cancelled: boolean }
  | { what: 'evidence'; task: string; requires: readonly Requirement[] }
  | { what: 'integrate' | 'verify' | 'advance'; task: string; candidate: string };

/** What the engine finds on the run branch when it looks before the end. */
type Gate = Partial<Pick<GateFacts, 'head' | 'missing' | 'looked'>> & {
  readonly failing?: readonly string[];
  /** Of what fails. */
  readonly output?: string;
};

export interface Played {
  readonly board: Board;
  readonly end: Next;
  readonly turns: readonly Turn[];
  /** What the playbook heard. */
  readonly events: readonly PlaybookEvent[];
  readonly effects: readonly PlanEffect[];
  readonly entries: readonly PlanEntry[];
  /** The board at each decision, with what was decided. */
  readonly steps: readonly { readonly board: Board; readonly next: Next }[];
}

export function member(name: string, role: string, more: Partial<Member> = {}): Member {
  return { name, role, account: `account-${name}`, commits: true, ...more };
}

export function factsOf(roster: readonly Member[], more: Partial<RunFacts> = {}): RunFacts {
  const objective = { title: 'Try', goals: [], criteria: [], constraints: [], context: '', text: 'Build it.' };
  return {
    objective,
    options: {},
    roster,
    runtimes: {},
    judges: ['reviewer', 'member'],
    limits: DEFAULT_PLAN_LIMITS,
    verifies: true,
    base: 'base',
    ...more,
  };
}

const MOST_STEPS = 5_000;

/** Plays a playbook, or bare changes, on the pure decisions alone until it ends, stops or asks what nobody answers. */
export function simulate(options: {
  facts: RunFacts;
  plan: readonly PlanChange[];
  playbook?: Pick<Playbook<never>, 'name' | 'advance' | 'answers'>;
  script?: Script;
  parallel?: number;
}): Played {
  const world = new World(options.facts, options.playbook ?? { name: 'none', advance: () => [] }, options.script ?? {});
  world.change(options.plan);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const news = options.script?.outside?.(world.board, step);
    for (const one of news === undefined ? [] : [news].flat()) world.accept(one);
    const facts = {
      parallel: options.parallel ?? 4,
      limits: NO_LIMITS,
      now: world.board.now,
      draining: false,
      patienceMs: null,
      pendingMail: 0,
    };
    const next = decideNext(world.board, facts);
    world.steps.push({ board: world.board, next });
    if (!world.follow(next)) return world.played(next);
  }
  throw new Error(`no end after ${MOST_STEPS} steps`);
}

const NO_LIMITS = { reached: false } as const;

class World {
  board: Board;
  readonly steps: { board: Board; next: Next }[] = [];
  private seq = 0;
  private now = 1_000_000;
  private made = 0;
  private readonly pending: Pending[] = [];
  private readonly turns: Turn[] = [];
  private readonly events: PlaybookEvent[] = [];
  private readonly effects: PlanEffect[] = [];
  private readonly entries: PlanEntry[] = [];
  private readonly playbook: Pick<Playbook<never>, 'name' | 'advance' | 'answers'>;
  private readonly script: Script;

  constructor(facts: RunFacts, playbook: Pick<Playbook<never>, 'name' | 'advance' | 'answers'>, script: Script) {
    this.board = createBoard(facts);
    this.playbook = {
      ...playbook,
      advance: (view, event) => {
        this.events.push(event);
        return playbook.advance(view, event);
      },
    };
    this.script = script;
  }

  /** false: there is nothing more to do. */
  follow(next: Next): boolean {
    switch (next.next) {
      case 'start':
        for (const start of next.starts) this.start(start);
        if (next.integrate !== null) this.work(next.integrate, { type: 'integration-started' });
        return true;
      case 'wait':
        if (this.pending.length > 0) this.happen();
        else if (isGateDue(this.board)) this.accept({ type: 'gate-checked', facts: this.gate() });
        else if (isRestoreDue(this.board))
          this.accept({ type: 'branch-restored', restored: true, head: this.board.branch.head, paths: [] });
        else if (next.until === null) throw new Error(`waits for nothing: ${next.why}`);
        else this.wake(next.until);
        return true;
      case 'ask': {
        const answered = next.questions.flatMap((question) => {
          const answer = this.script.answer?.(question);
          return answer === undefined ? [] : [{ question: question.id, answer }];
        });
        for (const one of answered) this.accept({ type: 'answer', ...one, by: 'test' });
        return answered.length > 0;
      }
      case 'finish':
        if (this.board.finished !== null) return false;
        this.change([{ do: 'finish', outcome: next.outcome, why: next.why }]);
        return true;
      case 'stop':
        return false;
      default:
        return next satisfies never;
    }
  }

  change(changes: readonly PlanChange[]): void {
    const moment = this.moment();
    this.entries.push({ entry: 'changes', ...moment, changes: [...changes] });
    this.take(applyChanges(this.board, changes, moment));
  }

  accept(news: PlanNews): void {
    const event: PlanEvent = { ...this.moment(), ...news };
    this.entries.push({ entry: 'event', seq: event.seq, at: event.at, event });
    this.take(acceptEvent(this.board, event));
  }

  played(end: Next): Played {
    const { board, turns, events, effects, entries, steps } = this;
    return { board, end, turns, events, effects, entries, steps };
  }

  private work(task: string, given: WorkEvent): void {
    const moment = this.moment();
    const state = this.board.tasks.get(task);
    const event = state === undefined ? given : withProblems(this.playbook, this.board, state, given);
    this.entries.push({ entry: 'work', ...moment, task, event });
    this.take(applyWork(this.board, task, event, moment));
  }

  private take(step: BoardStep): void {
    const before = this.board;
    const told = advancePlan(step.board, this.playbook, step.events);
    this.board = told.board;
    for (const changes of told.changes) {
      this.entries.push({ entry: 'changes', seq: this.seq, at: this.now, changes: [...changes] });
    }
    this.effects.push(...step.effects, ...told.effects);
    this.begin(before);
  }

  private start(start: Start): void {
    if (start.start !== 'turn') {
      const commit = start.start === 'integrate' && start.commit !== null ? { commit: start.commit } : {};
      this.work(start.task, { type: 'begun', ...commit });
      return;
    }
    this.turns.push(start);
    this.pending.push({ what: 'turn', turn: start, cancelled: false });
    const { task, attempt, agent, account, insteadOf, session, review } = start;
    this.work(task, {
      ...{ type: 'attempt-started', attempt, agent, account, session: session.key, review },
      ...(insteadOf === undefined ? {} : { insteadOf }),
    });
  }

  /** What the board asks of the engine now and did not ask before. */
  private begin(before: Board): void {
    const { pending, board } = this;
    const unwanted = new Set(unwantedAttempts(board).map(({ attempt }) => attempt));
    for (const one of pending) if (one.what === 'turn' && unwanted.has(one.turn.attempt)) one.cancelled = true;
    for (const { task: planned, work } of board.tasks.changedSince(before.tasks)) {
      const { phase } = work;
      const task = planned.id;
      const old = before.tasks.get(task)?.work.phase;
      // A task that gets the queue is looked at already.
      if (phase === old || (phase.at === 'gathering' && old?.at === 'gathering')) continue;
      if (phase.at === 'gathering') pending.push({ what: 'evidence', task, requires: planned.requires });
      if (phase.at === 'integrating') pending.push({ what: 'integrate', task, candidate: `m-${phase.commit}` });
      if (phase.at === 'verifying') pending.push({ what: 'verify', task, candidate: phase.candidate });
      if (phase.at === 'advancing') pending.push({ what: 'advance', task, candidate: phase.candidate });
    }
  }

  private happen(): void {
    const index = (this.script.choose?.(this.pending.length) ?? 0) % this.pending.length;
    const [one] = this.pending.splice(index, 1);
    if (one === undefined) return;
    if (one.what === 'turn') this.settle(one);
    if (one.what === 'evidence') this.work(one.task, { type: 'evidence-gathered', facts: this.evidence(one) });
    if (one.what === 'integrate') {
      const files = this.script.conflict?.(one.task);
      if (files === undefined) this.work(one.task, { type: 'integrated', candidate: one.candidate });
      else this.work(one.task, { type: 'conflict', files, head: 'run-head' });
    }
    if (one.what === 'verify') {
      const output = this.script.verify?.(one.task);
      const passed = output === undefined;
      this.work(one.task, { type: 'verified', candidate: one.candidate, passed, output: output ?? '' });
    }
    if (one.what === 'advance') this.work(one.task, { type: 'branch-advanced', commit: one.candidate });
  }

  private settle({ turn, cancelled }: Extract<Pending, { what: 'turn' }>): void {
    const failure = { kind: 'cancelled', message: 'asked to', mayHaveActed: true } as const;
    const settled: Settled = cancelled
      ? { outcome: 'cancelled', failure, text: '' }
      : {
          outcome: 'completed',
          text: 'done',
          ...defaultOutput(turn, this.board),
          ...this.script.turn?.(turn, this.board),
        };
    this.work(turn.task, { type: 'attempt-settled', attempt: turn.attempt, ...settled });
    if (!cancelled) for (const news of this.script.mail?.(turn, this.board) ?? []) this.accept(news);
  }

  private evidence({ task, requires }: Extract<Pending, { what: 'evidence' }>): EvidenceFacts {
    this.made += 1;
    const commit = `c${this.made}-${task}`;
    const facts: EvidenceFacts = {
      commit,
      commits: 1,
      base: 'base',
      changedPaths: changedBy(requires),
      uncommitted: [],
      files: requires.flatMap((one) => (one.kind === 'file' ? [one.path] : [])),
      documents: requires.flatMap((one) =>
        one.kind === 'document' ? [{ path: one.path, sha256: 'a'.repeat(64), bytes: 1, problems: [] }] : [],
      ),
      commands: requires.flatMap((one) => (one.kind === 'command' ? [{ run: one.run, passed: true, output: '' }] : [])),
      pr: { url: 'https://example.test/1', commit, open: true },
    };
    return { ...facts, ...this.script.evidence?.(task, facts) };
  }

  private gate(): GateFacts {
    const { objective } = this.board.facts;
    const { failing = [], output, ...found } = this.script.gate?.(this.board) ?? {};
    const { head: expected } = this.board.branch;
    const criteria = objective.criteria.flatMap(({ command }) => command ?? []);
    const commands = criteria.map((run) => {
      const passed = !failing.includes(run);
      return { purpose: 'criterion' as const, run, passed, output: passed ? '' : (output ?? `${run} fails`) };
    });
    const said = verdictsAt(expected, this.board.gate);
    const looked = foundAll(said.map(({ by, verdict: { evidence } }) => ({ by: by ?? '', evidence })));
    return { expected, head: expected, missing: [], looked, ...found, commands };
  }

  private wake(until: number): void {
    this.now = Math.max(this.now, until);
    const due = [...this.board.timers].filter(([, at]) => at <= this.now).map(([id]) => id);
    for (const id of due) this.accept({ type: 'timer', id });
    if (due.length === 0) this.accept({ type: 'timer', id: 'engine/wake' });
  }

  private moment(): { seq: number; at: number } {
    this.seq += 1;
    this.now += 1;
    return { seq: this.seq, at: this.now };
  }
}

/** A document, what has to go, or the first path of its own; otherwise code. */
function changedBy(requires: readonly Requirement[]): string[] {
  const paths = requires.flatMap((one) => (one.kind === 'document' || one.kind === 'absent' ? [one.path] : []));
  const [own = 'src/a.ts'] = requires.flatMap((one) => (one.kind === 'only' ? one.paths.slice(0, 1) : []));
  return paths.length > 0 ? paths : [own];
}

function defaultOutput(turn: Turn, { gate, facts }: Board): Partial<Settled> {
  if (turn.task === gate.judge) {
    const seen = { met: true, evidence: quoting('src/a.ts'), why: 'it is there' };
    return {
      output: { verdicts: facts.objective.criteria.map((_, at) => ({ criterion: criterionLabel(at), ...seen })) },
    };
  }
  return turn.review === null ? {} : { output: { approved: true, summary: 'good', findings: [], settled: ALL_FIXED } };
}

export function failed(
  kind: NonNullable<Settled['failure']>['kind'],
  more: { retryAt?: number } = {},
): Partial<Settled> {
  return { outcome: 'failed', failure: { kind, message: `it was ${kind}`, mayHaveActed: true, ...more } };
}

export function rejects(...texts: string[]): Partial<Settled> {
  const findings = texts.map((text) => finding(text));
  return { output: { approved: false, summary: 'not yet', findings, settled: ALL_FIXED } };
}

export function foldPlan(facts: RunFacts, entries: readonly PlanEntry[]): Board {
  return entries.reduce(foldEntry, createBoard(facts));
}

/** Tasks whose commit the engine began to integrate, in order. */
export function integratedTasks({ entries }: Played): string[] {
  return entries.flatMap((entry) =>
    entry.entry === 'work' && entry.event.type === 'integration-started' ? [entry.task] : [],
  );
}
