import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { toolTarget } from '../../text/tool-target.ts';

/** One thing that an agent said or did. */
export type TurnStep =
  | { readonly did: 'said' | 'noted'; readonly text: string }
  | {
      readonly did: 'used';
      readonly tool: string;
      readonly target: string;
      /** null: the turn ended before the call did. */
      readonly result: 'ok' | 'failed' | 'denied' | null;
      /** The output of a call that did not go well. */
      readonly output: string;
    };

/** An attempt as the ledger and its own files have it. Texts are without secrets, and not made safe for a terminal. */
export interface TurnRecord {
  /** As the plan calls it: `<task>-<number>`. */
  readonly attempt: string;
  readonly id: string;
  readonly task: string;
  readonly agent: string;
  readonly runtime: string;
  readonly kind: 'turn' | 'check';
  /** It judged the work of others. */
  readonly isReview: boolean;
  readonly claimedAt: number;
  /** Prompt of the agent, or the command of a check; null: it is not kept. */
  readonly prompt: string | null;
  /** The first and last steps; null: the output is not kept. */
  readonly steps: readonly TurnStep[] | null;
  /** Why its output is not kept; null: it is, or this is not known. */
  readonly gone: string | null;
  /** Steps between them that are left out. */
  readonly dropped: number;
  /** null: it has not ended. */
  readonly result: Pick<TurnResult, 'outcome' | 'text' | 'structured' | 'failure' | 'usage' | 'durationMs'> | null;
}

const MOST_FIRST = 300;
const MOST_LAST = 300;
const MOST_TEXT = 20_000;

/** Collects the steps of a turn from its events, and keeps the first and the last of them. */
export function createStepList() {
  const first: TurnStep[] = [];
  const last: TurnStep[] = [];
  const open = new Map<string, { list: TurnStep[]; step: TurnStep }>();
  let dropped = 0;
  const add = (step: TurnStep): TurnStep[] => {
    const list = first.length < MOST_FIRST ? first : last;
    list.push(step);
    if (last.length > MOST_LAST) {
      last.shift();
      dropped += 1;
    }
    return list;
  };
  return {
    take: (event: TurnEvent): void => {
      const step = stepOf(event);
      if (step !== undefined) {
        const list = add(step);
        if (event.type === 'tool-started') open.set(event.id, { list, step });
      }
      if (event.type !== 'tool-ended') return;
      const begun = open.get(event.id);
      open.delete(event.id);
      const at = begun === undefined ? -1 : begun.list.indexOf(begun.step);
      if (begun?.step.did !== 'used' || at === -1) return;
      const result = event.ok ? 'ok' : event.denied ? 'denied' : 'failed';
      const target = event.input === undefined ? begun.step.target : toolTarget(event.input);
      begun.list[at] = { ...begun.step, target, result, output: event.ok ? '' : bounded(event.output ?? '') };
    },
    /** `answer`: the last words, which the result has and the steps do not repeat. */
    end: (answer: string) => {
      const steps = [...first, ...last];
      const end = steps.at(-1);
      if (end?.did === 'said' && end.text.trim() === answer.trim()) steps.pop();
      return { steps, dropped };
    },
  };
}

function stepOf(event: TurnEvent): TurnStep | undefined {
  switch (event.type) {
    case 'text':
      return event.delta ? undefined : { did: 'said', text: bounded(event.text) };
    case 'tool-started': {
      const tool = event.server === undefined ? event.tool : `${event.server}/${event.tool}`;
      return { did: 'used', tool, target: toolTarget(event.input), result: null, output: '' };
    }
    case 'retry-scheduled':
      return { did: 'noted', text: `the runtime tries again: ${bounded(event.message)}` };
    case 'notice':
      return { did: 'noted', text: bounded(event.text) };
    case 'files-changed':
    case 'session-announced':
    case 'thinking':
    case 'tool-ended':
      return undefined;
    default:
      return event satisfies never;
  }
}

function bounded(text: string): string {
  return text.slice(0, MOST_TEXT).toWellFormed();
}
