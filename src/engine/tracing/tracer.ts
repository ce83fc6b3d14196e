import { z } from 'zod';
import type { NodeRun } from '../../graph/ports.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import type { Json } from '../../text/json.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { Lease, Ledger } from '../../substrate/ports/ledger.ts';
import { defined } from '../../text/defined.ts';
import { parseJson } from '../../text/json.ts';
import type { ScoredView } from './scores.ts';
import { BATCH, type Sender, type Sent } from './sender.ts';
import { endedIn, type Span } from './span.ts';
import { endTrace } from './roots.ts';
import { trace, TRACED_EVENTS, type Happening, type Texts } from './spans.ts';
import { nothingTraced } from './trace-state.ts';

const LOOK_MS = 500;
/** Rows that are read at once. */
const ROWS = 200;
const MOST_HEARD = 20_000;
/** Follows one segment of a run and sends its spans. No method waits or throws. */
export interface Tracer {
  node(run: NodeRun): void;
  turn(attemptId: string, event: TurnEvent): void;
  /** The run as its report shows it, at the end of the segment. */
  ended(view: ScoredView): void;
  /** Reads the ledger for the last time. */
  finish(): void;
  /** Tries for at most `ms` to send what is left. */
  close(ms: number): ClosedTracer;
}

export interface ClosedTracer extends ReturnType<Sender['close']> {
  readonly root: string | undefined;
  readonly view: ScoredView | undefined;
}

/** Asked for besides ids, names, times, outcomes and use of turns and tools. */
export interface TraceParts {
  /** Prompts, answers, and what tools were given and gave back. */
  readonly content: boolean;
  /** The nodes of the engine. */
  readonly detail: boolean;
}

const settledSchema = z.object({ attemptId: z.string() });
const requestSchema = z.object({ prompt: z.string() });
const definedSchema = z.object({ objective: z.object({ text: z.string() }) });
const publishedSchema = z.object({ summary: z.object({ headline: z.string() }).optional() });

type TracedLedger = Pick<Ledger, 'events' | 'attempt' | 'settlement'>;

interface TracerPorts {
  readonly ledger: TracedLedger;
  readonly redactor: Redactor;
  readonly sender: Sender;
}

export function createTracer({ sender, ...ports }: TracerPorts, { runId, epoch }: Lease, parts: TraceParts): Tracer {
  const follow = createFollower(ports, { runId, ...parts, epoch }, (spans, dropped) => {
    sender.push(spans);
    sender.drop(dropped, 'a turn used too many tools');
  });
  let heard: Happening[] = [];
  let isOver = false;
  let view: ScoredView | undefined;
  /** False: there are more rows. */
  const look = (): boolean => {
    // A turn's reports come before its settlement, and a node's trace is in the ledger before the node ends.
    const [turns, nodes] = [heard.filter(({ from }) => from === 'turn'), heard.filter(({ from }) => from === 'node')];
    heard = [];
    turns.forEach(follow.take);
    const isRead = follow.read();
    if (isRead) nodes.forEach(follow.take);
    else heard = nodes;
    return isRead;
  };
  const lookSafely = (): boolean => {
    try {
      return look();
    } catch {
      // A ledger that cannot be read ends the run by itself.
      return true;
    }
  };
  const lookOn = (): void => {
    if (!isOver && !lookSafely()) setImmediate(lookOn);
  };
  const timer = setInterval(lookOn, LOOK_MS).unref();
  // The root goes out before anything can end.
  setImmediate(lookOn);
  const hear = (happening: Happening): void => {
    if (heard.length < MOST_HEARD) heard.push(happening);
    else sender.drop(1, 'too much happened at once');
  };
  return {
    node: (run) => hear({ from: 'node', epoch, run }),
    turn: (attemptId, event) => {
      if (event.type === 'tool-started' || event.type === 'tool-ended') hear({ from: 'turn', attemptId, event });
    },
    ended: (of) => void (view = of),
    finish: () => {
      clearInterval(timer);
      isOver = true;
      while (!lookSafely());
      follow.end();
    },
    close: (ms) => ({ root: follow.root(), view, ...sender.close(ms) }),
  };
}

/** Sends all spans of a run that the ledger knows. Stops sending at the first that cannot be sent, and counts the rest. */
export async function sendRun({ sender, ...ports }: TracerPorts, runId: string, content: boolean): Promise<Sent> {
  const waiting: Span[] = [];
  const follow = createFollower(ports, { runId, content, detail: false }, (spans) => void waiting.push(...spans));
  let lost = 0;
  let failed: string | undefined;
  for (let isRead = false; !isRead;) {
    isRead = follow.read();
    if (isRead) follow.end();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      if (failed === undefined) sender.push(batch);
      else sender.drop(batch.length, failed);
      const { dropped, why } = await sender.idle();
      // All of it: the endpoint does not just reject some.
      if (dropped - lost === endedIn(batch)) failed ??= why;
      lost = dropped;
    }
  }
  return sender.idle();
}

interface Followed extends TraceParts {
  readonly runId: string;
  /** The epoch of the engine's lease; absent: no engine drives the run. */
  readonly epoch?: number;
}

/** A cursor over a run's rows, with the spans that they make. */
function createFollower(
  { ledger, redactor }: Omit<TracerPorts, 'sender'>,
  { runId, content, detail, epoch }: Followed,
  give: (spans: readonly Span[], dropped: number) => void,
) {
  let state = nothingTraced(runId, content, detail);
  let cursor = 0;
  let hasBegun = epoch === undefined;
  /** Spans of the last trace before this engine, whose engine may have been killed before it sent them. */
  let before: readonly Span[] = [];
  const take = (happening: Happening): void => {
    const { state: next, spans: all, dropped } = trace(state, happening);
    const spans = all.map((span) => redacted(span, redactor));
    const isSame = next.trace?.id === state.trace?.id;
    state = next;
    if (hasBegun) return give(spans, dropped);
    if (happening.from === 'ledger' && isLease(happening.event, epoch)) {
      hasBegun = true;
      return give([...before, ...spans], dropped);
    }
    before = isSame ? [...before, ...spans] : spans.filter(({ isOpen }) => isOpen === true);
  };
  const textsOf = ({ type, data }: LedgerEvent) => {
    // Before any of it is cut: half of a secret cannot be recognised.
    const texts = content ? textsIn(ledger, type, data) : undefined;
    return texts && redactor.json(texts);
  };
  return {
    take,
    /** The newest trace. */
    root: () => state.trace?.id,
    /** Returns false if there are more rows. */
    read: (): boolean => {
      const rows = ledger.events({ stream: runId, after: cursor, limit: ROWS, types: TRACED_EVENTS });
      for (const event of rows) {
        take({ from: 'ledger', event, ...defined({ texts: textsOf(event) }) });
        cursor = event.seq;
      }
      return rows.length < ROWS;
    },
    end: (): void =>
      give(
        endTrace(state).map((span) => redacted(span, redactor)),
        0,
      ),
  };
}

/** Prompt and answer of an attempt that ended, or of the run. */
function textsIn(ledger: TracedLedger, type: string, data: Json): Texts | undefined {
  switch (type) {
    case 'attempt-settled': {
      const { attemptId } = settledSchema.parse(data);
      const request = requestSchema.safeParse(parseJson(ledger.attempt(attemptId)?.request ?? ''));
      return { prompt: request.data?.prompt ?? '', answer: ledger.settlement(attemptId)?.result.text ?? '' };
    }
    case RUN_EVENTS.defined:
      return { prompt: definedSchema.parse(data).objective.text, answer: '' };
    case RUN_EVENTS.published:
      return { prompt: '', answer: publishedSchema.parse(data).summary?.headline ?? '' };
    default:
      return undefined;
  }
}

function isLease({ type, epoch: of }: LedgerEvent, epoch: number | undefined): boolean {
  return type === 'lease-acquired' && of === epoch;
}

/** Times and ids stay: squad made them. */
function redacted(span: Span, redactor: Redactor): Span {
  const { name, error, metadata, content } = span;
  return { ...span, ...redactor.json({ name, error, metadata, content }) };
}
