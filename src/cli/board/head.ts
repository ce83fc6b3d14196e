import { costText, tokensUsedText, useText } from '../../model/amount.ts';
import type { Limits } from '../../model/limits.ts';
import { WHOLE_RUN } from '../../model/plan/scope.ts';
import { currentStage, placeText, roundText } from '../../model/shown-stage.ts';
import { clockSpan, spanText } from '../../text/duration.ts';
import { localTime } from '../../text/time.ts';
import type { RunProgress } from '../../view/usage-count.ts';
import type { Style } from '../render/style.ts';
import { ends, line, widthOf, type Span } from '../render/cells.ts';
import type { BoardView } from './view.ts';

const SEPARATOR = ' · ';

/**
 * The objective and the run's state, then time, cost, tokens and work with their limits, then the stage of now if there are stages, in
 * at most `height` lines.
 */
export function renderHead(view: BoardView, columns: number, height: number, style: Style): string[] {
  const { run } = view.state;
  const title = { text: run.title === '' ? run.name : run.title, format: 'bold' } as const;
  // There, the name would take the room of the title.
  const isNarrow = columns < 60;
  const name: Span[] = isNarrow ? [] : [{ text: `  ${run.name}`, format: 'dim' }];
  const first = ends(title, [...standing(view), ...name], columns, style);
  const use = view.progress === undefined ? [] : useTexts(view.progress, run.limits);
  const stage = stageSpans(view);
  const time = stage.length === 0 ? timeText(view, isNarrow) : runtimeText(view);
  const facts = [time, ...deadlineText(view), ...use];
  const inStage = stage.length === 0 || height < 2 ? [] : [line(stage, columns, style)];
  const rest = wrapFacts(facts, columns, height - 1 - inStage.length);
  return [first, ...rest.map((text) => line([{ text }], columns, style)), ...inStage];
}

/** Both times change every second, however long the run is. */
function runtimeText({ progress, state: { run } }: BoardView): string {
  if (progress === undefined) return 'Runtime unknown';
  const { elapsedMs } = progress;
  if (run.limits === undefined) return `Runtime ${clockSpan(elapsedMs)}`;
  const most = run.limits.minutes * 60_000;
  return `Runtime ${clockSpan(elapsedMs)} / ${clockSpan(most)}, ${clockSpan(most - elapsedMs)} left`;
}

/** Which stage it is of how many, since when, how often it was judged, and who is at work in it. */
function stageSpans({ state: { stages }, now }: BoardView): Span[] {
  const current = currentStage([...stages.values()]);
  if (current === undefined) return [];
  const { state, startedAt, by } = current.stage;
  const since = startedAt === undefined || state !== 'live' ? '' : `for ${spanText(now - startedAt)}`;
  const facts = [state === 'live' ? '' : state, since, roundText(current.stage), by.join(', ')];
  return [
    { text: 'Stage ' },
    { text: placeText(current), format: 'bold' },
    { text: facts.flatMap((fact) => (fact === '' ? [] : [`${SEPARATOR}${fact}`])).join('') },
  ];
}

/** Each state has a sign of its own, for terminals without colour. */
function standing({ state, now }: BoardView): Span[] {
  const { ended, questions, pauses, decided } = state;
  const pause = pauses.get(WHOLE_RUN);
  if (ended !== undefined) {
    const format = ended.outcome === 'done' ? 'green' : ended.outcome === 'failed' ? 'red' : 'yellow';
    return [
      { text: `${ended.outcome === 'done' ? '✓' : ended.outcome === 'failed' ? '✗' : '■'} ${ended.outcome}`, format },
    ];
  }
  if (questions.size > 0 && decided?.next === 'ask') return [{ text: '? waits for you', format: 'yellow' }];
  if (pause !== undefined) return [{ text: `‖ ${PAUSED[pause.verb]}`, format: 'yellow' }];
  if (decided?.next === 'wait' && decided.until !== undefined && state.live.size === 0) {
    return [{ text: `… waits until ${localTime(decided.until, now)}`, format: 'yellow' }];
  }
  return [{ text: state.tasks.size === 0 ? '● preparing' : '● running', format: 'green' }];
}

const PAUSED = { pause: 'paused', drain: 'drains', stop: 'stops' } as const;

function timeText({ progress, state: { run } }: BoardView, isNarrow: boolean): string {
  if (progress === undefined) return 'time unknown';
  const { elapsedMs } = progress;
  if (run.limits === undefined) return spanText(elapsedMs);
  const most = run.limits.minutes * 60_000;
  const left = `${spanText(most - elapsedMs)} left`;
  return isNarrow ? `${spanText(elapsedMs)}, ${left}` : `${spanText(elapsedMs)} of ${spanText(most)}, ${left}`;
}

/** Empty: there is none. */
function deadlineText({ state: { run }, now }: BoardView): string[] {
  const { deadline, isPastDeadline } = run;
  if (deadline === undefined) return [];
  const passed = now < deadline ? '' : isPastDeadline ? ' passed, works on' : ' passed';
  return [`deadline ${localTime(deadline, now)}${passed}`];
}

/** From what matters most. Unknown use is said, because it is not zero. */
function useTexts({ usage, turns, tasks }: RunProgress, limits: Limits | undefined): string[] {
  const { costUsd, inputTokens, outputTokens, unknownTurns, unknownCostTurns } = usage;
  const tokens = inputTokens === null ? null : inputTokens + (outputTokens ?? 0);
  return [
    limits === undefined
      ? costText(usage)
      : useText({ cap: 'usd', used: costUsd, most: limits.usd, isLeast: unknownCostTurns > 0 }),
    limits?.tokens === undefined
      ? tokensUsedText(tokens, unknownTurns)
      : useText({ cap: 'tokens', used: tokens, most: limits.tokens, isLeast: unknownTurns > 0 }),
    `${tasks.ended} of ${tasks.all} tasks`,
    limits === undefined
      ? `${turns.started} turns`
      : useText({ cap: 'turns', used: turns.started, most: limits.turns }),
  ];
}

function wrapFacts(facts: readonly string[], columns: number, most: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const longer = last === undefined ? fact : `${last}${SEPARATOR}${fact}`;
    if (last !== undefined && widthOf(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(fact);
  }
  return lines.slice(0, Math.max(0, most));
}
