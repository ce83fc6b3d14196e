import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import { planEntrySchema } from '../../../src/model/plan/entry.ts';
import type { WorkEvent } from '../../../src/model/plan/work.ts';
import { raiseLimits, type Limits } from '../../../src/model/limits.ts';
import { decidedSchema, RUN_EVENTS, type RunDefinition } from '../../../src/model/run.ts';
import type { ApplyAnswer, ApplyInput, Ledger, RunRow } from '../../../src/substrate/ports/ledger.ts';
import { isJsonObject } from '../../../src/text/json.ts';
import { amendmentOf } from '../../../src/view/read-run.ts';
import { ledgerAt, type ReplayPlace } from './ledger-at.ts';
import { readEvent } from '../../../src/view/replay-plan.ts';
import {
  differenceOf,
  essenceOfDecision,
  essenceOfEvent,
  isSecond,
  recordedSteps,
  type Essence,
  type RecordedStep,
  type ReplayDifference,
  type RunStep,
} from './steps.ts';

type Settled = Extract<WorkEvent, { type: 'attempt-settled' }>;

/** A run's record, played step by step: what its engine saw then, and how what is decided now differs from it. */
export class ReplayRecord {
  /** What the graph takes for the ledger. */
  readonly ledger: Ledger;
  readonly definedAt: number;
  readonly differences: ReplayDifference[] = [];
  /** Steps that were decided again. */
  replayed = 0;
  readonly #events: readonly LedgerEvent[];
  readonly #steps: readonly RecordedStep[];
  readonly #limits: Limits;
  readonly #keyOf: (mail: string) => string | null;
  /** First event that sent under each key. */
  readonly #sent = new Map<string, number>();
  #at = 0;
  #applied = 0;
  #inputs: number;
  #position: number;
  /** The next step is decided on a board that lacks what the record has. */
  #isOff = false;

  constructor(ledger: Ledger, row: RunRow, definition: RunDefinition, steps: readonly RunStep[]) {
    const events = ledger.events({ stream: row.id });
    this.#events = events;
    this.#steps = recordedSteps(events, steps);
    this.#limits = definition.limits;
    this.#keyOf = (mail) => ledger.mail.originOf(mail)?.key ?? null;
    for (const event of events) {
      if (event.type !== 'mail-sent' || event.cause === null) continue;
      for (const { what } of essenceOfEvent(event, this.#keyOf)) {
        if (!this.#sent.has(what)) this.#sent.set(what, event.seq);
      }
    }
    this.definedAt = events.find(({ type }) => type === RUN_EVENTS.defined)?.seq ?? 0;
    this.#inputs = this.definedAt;
    this.#position = this.definedAt;
    const [first] = this.#steps;
    // A fork's first step is its parent's.
    if (first !== undefined && first.seq !== this.definedAt) this.#pass(first);
    this.ledger = ledgerAt(ledger, row, events, {
      place: () => this.#place(),
      apply: (input) => this.#apply(input),
    });
  }

  get applied(): number {
    return this.#applied;
  }

  /** Index of the next step. */
  get at(): number {
    return this.#at;
  }

  isOver(): boolean {
    return this.#at >= this.#steps.length;
  }

  /** Goes past a step that the graph does not take any more. */
  skip(): void {
    const step = this.#next();
    if (step !== undefined) this.#miss(step);
  }

  /** The graph waits: the next inputs on record are there from now on. */
  waits(): void {
    for (let step = this.#next(); step !== undefined && isSecond(step); step = this.#next()) this.#miss(step);
    this.#inputs = this.#next()?.seq ?? this.#inputs;
  }

  /** The moment that the engine took for now as it decided the next step. */
  now(): number {
    const step = this.#next();
    const entry = step?.decisions.find(({ type }) => type === RUN_EVENTS.plan);
    const at = isJsonObject(entry?.data) ? entry.data['at'] : undefined;
    if (typeof at === 'number' && step !== undefined && isSecond(step)) return at;
    return step?.decisions[0]?.at ?? this.#events.findLast(({ seq }) => seq <= this.#position)?.at ?? 0;
  }

  limits(): Limits {
    const { seen } = this.#place();
    return this.#events
      .filter(({ seq }) => seq <= seen)
      .flatMap(amendmentOf)
      .reduce<Limits>(raiseLimits, this.#limits);
  }

  /** What was looked up for the answer of a review or a judge; empty: nothing was. */
  cited(attempt: string): Pick<Settled, 'cited' | 'looked'> {
    for (const { type, data } of this.#events) {
      if (type !== RUN_EVENTS.plan) continue;
      const entry = planEntrySchema.parse(data);
      if (entry.entry !== 'work' || entry.event.type !== 'attempt-settled') continue;
      if (entry.event.attempt === attempt) return entry.event;
    }
    return {};
  }

  /** Why the next step stopped the run; undefined: it did not. */
  stopped(): { readonly because?: string | undefined; readonly why: string } | undefined {
    const event = this.#next()?.decisions.find(({ type }) => type === RUN_EVENTS.decided);
    return event === undefined ? undefined : readEvent(event, decidedSchema);
  }

  #next(): RecordedStep | undefined {
    return this.#steps[this.#at];
  }

  #place(): ReplayPlace {
    const step = this.#next();
    const seen = (step?.decisions[0]?.seq ?? Math.max(this.#position, step?.seq ?? 0) + 1) - 1;
    return { applied: this.#applied, inputs: this.#inputs, position: this.#position, seen };
  }

  #apply(input: ApplyInput): ApplyAnswer {
    const step = this.#next();
    if (step !== undefined && step.cursor === input.cursor && step.seq === input.seq) {
      return { applied: input.seq, claims: step.claims, repeated: this.#judge(step, input) };
    }
    // What an engine had yet to decide when it ended is not on record.
    if (this.#steps[this.#at - 1]?.cutShort !== true) this.#note(input, [], input.decisions.flatMap(essenceOfDecision));
    return { applied: input.seq, claims: [], repeated: true };
  }

  /** True: the graph has to read the record's board, because its own differs. */
  #judge(step: RecordedStep, input: ApplyInput): boolean {
    const was = this.#essence(step);
    const known = new Set(was.map(({ what }) => what));
    const isRefused = step.decisions.some(({ type }) => type === 'mail-refused');
    // A key sends once, and a refused message is on record without its key.
    const isSent = ({ kind, what }: Essence): boolean =>
      kind === 'mail' && !known.has(what) && (isRefused || (this.#sent.get(what) ?? Infinity) <= this.#position);
    const now = input.decisions.flatMap(essenceOfDecision).filter((one) => !isSent(one));
    const isOff = this.#isOff;
    this.#isOff = false;
    this.replayed += 1;
    const differs = !isOff && this.#note(step, was, now);
    this.#pass(step);
    return isOff || differs;
  }

  #miss(step: RecordedStep): void {
    this.#note(step, this.#essence(step), []);
    this.#isOff = true;
    this.#pass(step);
  }

  #essence(step: RecordedStep): Essence[] {
    return step.decisions.flatMap((event) => essenceOfEvent(event, this.#keyOf));
  }

  #note(step: Pick<RecordedStep, 'cursor' | 'seq'>, was: readonly Essence[], now: readonly Essence[]): boolean {
    const found = differenceOf({ seq: step.seq, step: isSecond(step) ? 'next' : 'inputs' }, was, now);
    if (found !== undefined) this.differences.push(found);
    return found !== undefined;
  }

  #pass(step: RecordedStep): void {
    this.#at += 1;
    this.#applied = step.seq;
    this.#position = Math.max(this.#position, step.seq, step.decisions.at(-1)?.seq ?? 0);
    const next = this.#next();
    this.#inputs = next !== undefined && isSecond(next) ? this.#place().seen : this.#position;
  }
}
