import { assertNever } from '../../model/assert-never.ts';
import type { Failure } from '../../model/failure.ts';
import { defined } from '../../text/defined.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import * as tools from '../shared/translation.ts';
import { endingText, exitedCleanly, step } from '../shared/translation.ts';
import { playerEventSchema, type PlayerEvent } from './schema.ts';

export interface ScriptedState {
  readonly sessionId?: string;
  readonly tools: tools.ToolLog;
  readonly last?: Extract<PlayerEvent, { type: 'result' | 'error' }>;
}

type Step = tools.Step<ScriptedState>;

export function beginScripted(): ScriptedState {
  return { tools: tools.NO_TOOLS };
}

export function translateScripted(state: ScriptedState, line: NativeLine): Step {
  const parsed = playerEventSchema.safeParse(line.type === 'json' ? line.value : undefined);
  return parsed.success ? translateEvent(state, parsed.data) : step(state);
}

function translateEvent(state: ScriptedState, event: PlayerEvent): Step {
  switch (event.type) {
    case 'session': {
      const { id, resumed, model } = event;
      const report = { type: 'session-announced' as const, id, resumed, mcp: [], ...defined({ model }) };
      return step({ ...state, sessionId: id }, report);
    }
    case 'text':
      return step(state, { type: 'text', text: event.text, delta: false });
    case 'thinking':
      return step(state, event);
    case 'tool-started':
      return step({ ...state, tools: tools.openTool(state.tools, event.id, event.tool) }, event);
    case 'tool-ended': {
      const { log, report } = tools.endTool(state.tools, event.id, event);
      return step({ ...state, tools: log }, report);
    }
    case 'retry':
      return step(state, { type: 'retry-scheduled', failure: event.kind, message: event.message });
    case 'error':
    case 'result':
      return step({ ...state, last: event });
    default:
      return assertNever(event);
  }
}

export function isScriptedTerminal(state: ScriptedState): boolean {
  return state.last !== undefined;
}

/** Completed only with a result line and exit 0. */
export function concludeScripted(state: ScriptedState, { ending, stderr }: TurnFacts): Verdict {
  const { last, sessionId } = state;
  const mayHaveActed = tools.mayHaveActed(state.tools);
  const known = { text: '', denials: [...state.tools.denied.values()], sessionId };
  if (last?.type === 'error') {
    const { type: _, ...failure } = last;
    return { ...known, failure: { ...defined(failure), mayHaveActed } };
  }
  const failure = (kind: Failure['kind'], message: string): Failure => ({ kind, message, mayHaveActed });
  const crash = exitedCleanly(ending)
    ? undefined
    : failure('crashed', `the player ended by ${endingText(ending)}: ${stderr.slice(-300)}`);
  if (last === undefined) {
    return { ...known, failure: crash ?? failure('protocol', 'the player ended without a result') };
  }
  return { ...known, text: last.text, counters: last.usage, structured: last.structured, failure: crash };
}
