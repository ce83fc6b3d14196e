import { assertNever } from '../../model/assert-never.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import * as tools from '../shared/translation.ts';
import { step } from '../shared/translation.ts';
import { verdictOf } from '../shared/turn-end.ts';
import { lineSchema, type Line, type LineOf } from './schema.ts';

export interface InProcessState {
  readonly name: string;
  readonly request: TurnRequest;
  readonly sessionId?: string;
  readonly tools: tools.ToolLog;
  readonly usage?: Usage;
  readonly steps?: number;
  readonly end?: LineOf<'result' | 'error'>;
}

type Step = tools.Step<InProcessState>;

export function begin(name: string, request: TurnRequest): InProcessState {
  return { name, request, tools: tools.NO_TOOLS };
}

export function translate(state: InProcessState, native: NativeLine): Step {
  const line = lineSchema.safeParse(native.type === 'json' ? native.value : undefined);
  return line.success ? translateLine(state, line.data) : step(state);
}

function translateLine(state: InProcessState, line: Line): Step {
  switch (line.type) {
    case 'session': {
      // The agent begins once the required servers work, and nothing is said of the others.
      const mcp = state.request.mcp.map(({ name, required }) => ({
        name,
        status: required === true ? ('connected' as const) : ('unknown' as const),
      }));
      return step(
        { ...state, sessionId: line.id },
        { type: 'session-announced', id: line.id, resumed: line.resumed, mcp },
      );
    }
    case 'text':
    case 'thinking':
    case 'notice':
      return step(state, line);
    case 'tool-started':
      return step({ ...state, tools: tools.openTool(state.tools, line.id, line.tool, line.kind !== 'read') }, line);
    case 'tool-ended': {
      const { log, report } = tools.endTool(state.tools, line.id, line);
      return step({ ...state, tools: log }, report);
    }
    case 'usage':
      return step({ ...state, usage: line.usage, ...defined({ steps: line.steps }) });
    case 'error':
    case 'result':
      return step({ ...state, end: line });
    default:
      return assertNever(line);
  }
}

/** The output of a turn whose application ended says neither a result nor a failure. */
export function conclude(state: InProcessState, facts: TurnFacts): Verdict {
  const { name, sessionId, end, usage, steps } = state;
  const result = end?.type === 'result' ? end : undefined;
  const verdict = verdictOf(name, facts, {
    end: end?.type === 'error' ? end.failure : result && 'completed',
    complaint: {
      text: facts.stderr.trim().slice(-2000),
      cause: { kind: 'lost', message: `the application in which ${name} works ended before the turn did` },
    },
    text: result?.text ?? '',
    tools: state.tools,
    unseen: end === undefined,
    ...{ structured: result?.structured, sessionId, steps },
  });
  return defined({ ...verdict, usage });
}
