import { assertNever } from '../../model/assert-never.ts';
import type { Failure } from '../../model/failure.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { remembered, rememberedAs } from '../shared/remembered.ts';
import { playerEventSchema, type PlayerEvent } from './schema.ts';

export interface ScriptedState {
  readonly sessionId?: string;
  readonly acted: boolean;
  readonly denials: readonly { tool: string; message: string }[];
  readonly tools: ReadonlyMap<string, string>;
  readonly last?: Extract<PlayerEvent, { type: 'result' | 'error' }>;
}

export function beginScripted(): ScriptedState {
  return { acted: false, denials: [], tools: new Map() };
}

export function translateScripted(
  state: ScriptedState,
  line: NativeLine,
): { state: ScriptedState; reports: TurnReport[] } {
  const parsed = playerEventSchema.safeParse(line.type === 'json' ? line.value : undefined);
  return parsed.success ? translateEvent(state, parsed.data) : { state, reports: [] };
}

function translateEvent(state: ScriptedState, event: PlayerEvent): { state: ScriptedState; reports: TurnReport[] } {
  switch (event.type) {
    case 'session': {
      const { id, resumed, model } = event;
      const report: TurnReport = {
        type: 'session-announced',
        id,
        resumed,
        mcp: [],
        ...(model === undefined ? {} : { model }),
      };
      return { state: { ...state, sessionId: id }, reports: [report] };
    }
    case 'text':
      return { state, reports: [{ type: 'text', text: event.text, delta: false }] };
    case 'thinking':
      return { state, reports: [event] };
    case 'tool-started':
      return {
        state: { ...state, acted: true, tools: rememberedAs(state.tools, event.id, event.tool) },
        reports: [event],
      };
    case 'tool-ended': {
      const { exitCode, ...rest } = event;
      const denial = { tool: state.tools.get(event.id) ?? event.id, message: event.output };
      return {
        state: event.denied ? { ...state, denials: remembered(state.denials, denial) } : state,
        reports: [{ ...rest, ...(exitCode === undefined ? {} : { exitCode }) }],
      };
    }
    case 'retry':
      return { state, reports: [{ type: 'retry-scheduled', failure: event.kind, message: event.message }] };
    case 'error':
    case 'result':
      return { state: { ...state, last: event }, reports: [] };
    default:
      return assertNever(event);
  }
}

export function isScriptedTerminal(state: ScriptedState): boolean {
  return state.last !== undefined;
}

/** Completed only with a result line and exit 0. */
export function concludeScripted(state: ScriptedState, facts: TurnFacts): Verdict {
  const { last, denials } = state;
  const known = { denials, ...(state.sessionId === undefined ? {} : { sessionId: state.sessionId }) };
  if (last?.type === 'result') {
    const exitFailure = failureOfExit(state, facts);
    return {
      ...known,
      text: last.text,
      counters: last.usage,
      ...(last.structured === undefined ? {} : { structured: last.structured }),
      ...(exitFailure === undefined ? {} : { failure: exitFailure }),
    };
  }
  if (last?.type === 'error') {
    const { type: _, httpStatus, retryAt, ...failure } = last;
    return {
      ...known,
      text: '',
      failure: {
        ...failure,
        mayHaveActed: state.acted,
        ...(httpStatus === undefined ? {} : { httpStatus }),
        ...(retryAt === undefined ? {} : { retryAt }),
      },
    };
  }
  const failure = failureOfExit(state, facts) ?? noResult(state);
  return { ...known, text: '', failure };
}

function failureOfExit(state: ScriptedState, { ending, stderr }: TurnFacts): Failure | undefined {
  if (ending.type === 'exited' && ending.code === 0 && ending.signal === null) return undefined;
  const how = ending.type === 'exited' ? (ending.signal ?? `exit ${ending.code}`) : ending.type;
  return { kind: 'crashed', message: `the player ended with ${how}: ${stderr.slice(-300)}`, mayHaveActed: state.acted };
}

function noResult(state: ScriptedState): Failure {
  return { kind: 'protocol', message: 'the player ended without a result', mayHaveActed: state.acted };
}
