import type { Limits } from '../../model/limits.ts';
import type { ShownStatus } from '../../model/plan/task.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { RunOutcome } from '../../model/run-state.ts';
import type { ShownStage } from '../../model/shown-stage.ts';
import type { Tone } from '../../view/sentence.ts';

const MOST_CHANGES = 64;

/** An immutable map whose change does not copy all of it: a large part, and the few entries that changed since. Keeps the order. */
export class LayeredMap<V extends object> {
  readonly #base: ReadonlyMap<string, V>;
  readonly #changes: ReadonlyMap<string, V>;

  constructor(base: ReadonlyMap<string, V> = new Map(), changes: ReadonlyMap<string, V> = new Map()) {
    this.#base = base;
    this.#changes = changes;
  }

  get size(): number {
    return this.#base.size + this.#added().length;
  }

  get(key: string): V | undefined {
    return this.#changes.get(key) ?? this.#base.get(key);
  }

  with(key: string, value: V): LayeredMap<V> {
    const changes = new Map(this.#changes).set(key, value);
    return changes.size > MOST_CHANGES
      ? new LayeredMap(new Map([...this.#base, ...changes]))
      : new LayeredMap(this.#base, changes);
  }

  entries(): (readonly [string, V])[] {
    const base = [...this.#base].map(([key, value]) => [key, this.#changes.get(key) ?? value] as const);
    return [...base, ...this.#added()];
  }

  #added(): (readonly [string, V])[] {
    return [...this.#changes].filter(([key]) => !this.#base.has(key));
  }
}

/**
 * A run, folded from its events. Immutable. Texts are plain lines, ready to show; keys, and the questions that a person answers,
 * are as the run has them.
 */
export interface BoardState {
  readonly run: RunFacts;
  /** In the order of the run's definition. */
  readonly agents: ReadonlyMap<string, AgentFacts>;
  /** In the order of the plan. */
  readonly tasks: LayeredMap<TaskFacts>;
  /** In their order; empty: the playbook has none. */
  readonly stages: ReadonlyMap<string, ShownStage>;
  /** Attempts that have been claimed and not settled, by id. */
  readonly live: ReadonlyMap<string, LiveAttempt>;
  /** Without an answer, oldest first. */
  readonly questions: ReadonlyMap<string, AskedQuestion>;
  /** By scope: `run`, `agent/<name>`, `task/<id>`. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** Accounts that cannot have turns. */
  readonly accounts: ReadonlyMap<string, ClosedAccount>;
  readonly decided: Extract<RunEvent, { type: 'decided' }> | undefined;
  /** How this segment of the run ended; undefined until then. */
  readonly ended: Ended | undefined;
  /** Newest last. */
  readonly activity: readonly Activity[];
}

interface RunFacts {
  readonly name: string;
  readonly title: string;
  /** undefined: the view has not seen the run's definition. */
  readonly limits: Limits | undefined;
  /** Epoch ms; undefined: there is none. */
  readonly deadline: number | undefined;
  /** A person let turns start after it. */
  readonly isPastDeadline: boolean;
  /** It belongs to a team: once it is over, nothing opens it again. */
  readonly isOfTeam: boolean;
}

export interface AgentFacts {
  readonly name: string;
  readonly role: string;
  /** As configured, or as its last session announced it; without one, its runtime. */
  readonly model: string;
  readonly account: string | undefined;
  /** The end of its last turn. */
  readonly idleSince: number | undefined;
  /** Newest last. */
  readonly transcript: readonly Spoken[];
}

export interface TaskFacts {
  readonly id: string;
  readonly title: string;
  readonly role: string;
  readonly status: ShownStatus;
  readonly round: number;
  /** Why it ended; empty: it has not. */
  readonly why: string;
  /** The item of the team's backlog, if it is blocked. */
  readonly item?: string | undefined;
  /** The agent of its last turn. */
  readonly agent: string | undefined;
}

export interface AskedQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly string[];
  /** That wait for the answer; empty: the whole run does. */
  readonly tasks: readonly string[];
  readonly at: number;
}

interface Pause {
  readonly verb: 'pause' | 'drain' | 'stop';
  readonly by: string;
}

interface ClosedAccount {
  readonly state: 'limited' | 'locked-out';
  readonly until: number | undefined;
}

interface Ended {
  readonly outcome: RunOutcome;
  readonly headline: string;
  /** The command that continues from here; empty: none. */
  readonly next: string;
}

/** An attempt at work. */
export interface LiveAttempt {
  readonly task: string;
  readonly agent: string;
  readonly kind: 'turn' | 'check';
  readonly since: number;
  /** A tool with what it works on, or the agent's last sentence; empty: nothing is known. */
  readonly doing: { readonly text: string; readonly since: number };
}

/** One thing that an agent said or did. */
export interface Spoken {
  readonly at: number;
  readonly kind: 'turn' | 'says' | 'thinks' | 'tool' | 'failed' | 'notice';
  /** Plain text; what an agent says may have several lines. */
  readonly text: string;
}

/** A line of the activity. */
export interface Activity {
  readonly at: number;
  /** An agent, a task, or squad. */
  readonly who: string;
  /** Plain text in one line. */
  readonly text: string;
  readonly tone: Tone;
}

export const EMPTY_BOARD: BoardState = {
  run: { name: '', title: '', limits: undefined, deadline: undefined, isPastDeadline: false, isOfTeam: false },
  agents: new Map(),
  tasks: new LayeredMap(),
  stages: new Map(),
  live: new Map(),
  questions: new Map(),
  pauses: new Map(),
  accounts: new Map(),
  decided: undefined,
  ended: undefined,
  activity: [],
};

export function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value);
}

export function withoutEntry<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
