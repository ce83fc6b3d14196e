import { deliveryOptions, withDeliveryList } from '../../support/delivery-list.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { factsOf } from '../../../src/rules/run-facts.ts';
import { plainJson, type Json } from '../../../src/text/json.ts';
import type { Playbooks } from '../../../src/model/plan.ts';
import type { PlanEntry } from '../../../src/model/plan/entry.ts';
import { RUN_EVENTS, runDefinitionSchema, type PublishFacts, type RunDefinition } from '../../../src/model/run.ts';
import { limitsSchema } from '../../../src/model/limits.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { createDeliveryPlaybook } from '../../../src/playbooks/delivery/index.ts';
import { readHistory, type RunHistory } from '../../../src/view/read-run.ts';
import { viewOf } from '../../../src/view/view-of.ts';
import { lockWorkspace, openLedger, type WorkspaceLock } from '../../../src/substrate/ledger/index.ts';
import type { Decision, Lease, Ledger } from '../../../src/substrate/ports/ledger.ts';
import { simulate, type Played, type Script } from '../../playbooks/simulator.ts';
import { MovedClock, result, temporaryFolder } from '../../substrate/ledger/support.ts';

export const BASE = 'b'.repeat(40);
export const HEAD = 'c'.repeat(40);

/** A run of the default playbook with a planner, two builders and a reviewer. */
export function definition(more: Partial<RunDefinition['objective']> = {}): RunDefinition {
  const agent = (name: string, role: string, level: 'edit' | 'read-only') => ({
    name,
    role,
    runtime: 'scripted',
    access: { level },
    instructions: '',
    account: `account-${name}`,
  });
  const criteria = more.criteria ?? [{ text: 'it is tidy', done: true, line: 4 }];
  const agents = [
    agent('ada', 'planner', 'read-only'),
    agent('bob', 'builder', 'edit'),
    agent('cyd', 'builder', 'edit'),
    agent('rex', 'reviewer', 'read-only'),
  ];
  return runDefinitionSchema.parse({
    version: 1,
    name: 'tidy',
    source: 'objective.md',
    objective: {
      title: 'Tidy up',
      goals: ['tidy'],
      criteria: [{ text: 'it is tidy', done: true, line: 4 }],
      constraints: [],
      context: '',
      text: 'Tidy up.',
      ...more,
    },
    playbook: 'delivery',
    options: deliveryOptions(agents, { criteria }),
    agents,
    runtimes: {},
    limits: limitsSchema.parse({ minutes: 60 }),
    setup: [],
    verify: [],
    repository: { root: '/repository', base: BASE, branch: 'main' },
    ...{
      judges: ['reviewer', 'member'],
      described: { codex: { login: 'codex login', reportsCost: false } },
      baseline: 'off',
      plan: 'auto',
      strict: false,
    },
    trusted: null,
  });
}

export function planOf(...ids: string[]): Json {
  const tasks = ids.map((id) => ({
    id,
    title: `Do ${id}`,
    role: 'builder',
    needs: [],
    brief: `Build ${id}.`,
    acceptance: [`${id} works`],
  }));
  return { summary: '', tasks };
}

/** The delivery playbook on the pure decisions, over the facts of this definition. */
export function play(about: RunDefinition, script: Script & { plan?: Json } = {}): Played {
  const facts = withDeliveryList(factsOf(about));
  const playbook = createDeliveryPlaybook();
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return simulate({
    facts,
    playbook,
    plan: playbook.plan(parsed.input),
    script: {
      ...script,
      turn: (turn, board) =>
        script.turn?.(turn, board) ?? (turn.task === 'plan' ? { output: script.plan ?? planOf('a') } : undefined),
    },
  });
}

/** A run in a real ledger, written as the engine writes it. */
export class RecordedRun {
  readonly clock = new MovedClock();
  readonly directory: string;
  readonly lock: WorkspaceLock;
  readonly ledger: Ledger;
  readonly about: RunDefinition;
  lease: Lease;
  private steps = 0;

  constructor(about: RunDefinition, directory = join(temporaryFolder(), '.squad')) {
    this.about = about;
    this.directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.lock = lockWorkspace(directory, { pid: process.pid, host: 'here', since: this.clock.time });
    this.ledger = openLedger(directory, { clock: this.clock, lock: this.lock, ballastBytes: 4096 });
    onTestFinished(() => this.close());
    this.ledger.createRun({ id: `id-${about.name}`, name: about.name });
    this.ledger.append(this.id, RUN_EVENTS.defined, plainJson(about));
    this.lease = this.ledger.acquireLease(this.id, 'test');
  }

  get id(): string {
    return `id-${this.about.name}`;
  }

  allocate(base = BASE): this {
    const data = { branch: `squad/${this.about.name}`, base };
    this.ledger.note(this.lease, RUN_EVENTS.workspaceAllocated, data);
    return this;
  }

  plan(entries: readonly PlanEntry[]): this {
    this.step(entries.map((entry) => ({ do: 'record', type: RUN_EVENTS.plan, data: plainJson(entry) })));
    return this;
  }

  decide(next: string, why: string): this {
    this.step([{ do: 'record', type: RUN_EVENTS.decided, data: { next, why } }]);
    return this;
  }

  /** A settled turn of this agent; undefined leaves it live. */
  turn(task: string, number: number, agent: string, ended?: Partial<TurnResult>): this {
    const id = `${this.about.name}.${task}-${number}`;
    const attempt = { id, taskId: task, kind: 'turn' as const, agent, runtime: 'scripted', request: '{}' };
    this.step([{ do: 'claim-attempt', attempt, limits: {} }]);
    this.clock.time += 1_000;
    if (ended !== undefined) this.ledger.settle(this.lease, id, result(ended));
    return this;
  }

  /** An attempt that starts now, works so long and is settled. */
  work(name: string, { kind, agent, ms }: { kind: 'turn' | 'check'; agent: string; ms: number }): this {
    const id = `${this.about.name}.${name}`;
    const attempt = { id, taskId: name, kind, agent, runtime: 'scripted', request: '{}' };
    this.step([{ do: 'claim-attempt', attempt, limits: {} }]);
    const process = { pid: 1, startTime: '1', bootId: 'here', marker: id };
    this.ledger.markSpawned(this.lease, id, process, this.clock.time);
    this.clock.time += ms;
    this.ledger.settle(this.lease, id, result({ durationMs: ms }));
    return this;
  }

  publish(facts: Partial<PublishFacts> = {}): this {
    const all = { branch: `squad/${this.about.name}`, head: HEAD, kept: [], ...facts };
    this.ledger.note(this.lease, RUN_EVENTS.published, plainJson(all));
    return this;
  }

  /** The row that an engine leaves last. */
  writeEnd(): this {
    this.ledger.note(this.lease, RUN_EVENTS.ended, plainJson(viewOf(this.read(), { now: this.clock.time })));
    return this;
  }

  read(lockedBy: { since: number } | null = null, playbooks: Playbooks = {}): RunHistory {
    return readHistory(this.ledger, undefined, lockedBy, playbooks);
  }

  close(): void {
    this.ledger.close();
    this.lock.release();
  }

  private step(decisions: readonly Decision[]): void {
    this.steps += 1;
    const seq = this.ledger.append(this.id, 'poke', null);
    const cursor = this.ledger.run(this.id)?.applied ?? 0;
    this.ledger.apply({ lease: this.lease, cursor, seq, driver: `step-${this.steps}`, decisions });
  }
}
