import { agentAt } from '../model/mail/address.ts';
import { humanLine } from '../model/mail/human-line.ts';
import { MAIN } from '../model/mail/vocabulary.ts';
import type { Board } from '../model/plan/board.ts';
import type { PlanEntry } from '../model/plan/entry.ts';
import type { PlanNews } from '../model/plan/event.ts';
import { agentScope } from '../model/plan/scope.ts';
import { isUnchecked } from '../model/plan/gate.ts';
import type { RunEvent } from '../model/run-event.ts';
import { defined } from '../text/defined.ts';
import { baselineText } from './baseline-text.ts';
import type { Base } from './event-base.ts';

/** The inputs that people see: mail that takes effect, a missed deadline, a person's command, a check of the branch. */
export function inputEvents(
  base: Base,
  { event }: Extract<PlanEntry, { entry: 'event' }>,
  board: Board,
  resumedAt: number,
): RunEvent[] {
  switch (event.type) {
    case 'mail': {
      const { kind: type, from, to, action, task: task_id, body } = event;
      return [mailEvent(base, { type, from, to, ...defined({ action, task_id }) }, JSON.stringify(body), board)];
    }
    case 'overdue': {
      return [overdueEvent(base, event, board)];
    }
    case 'intervention': {
      const { intervention, by, seq } = event;
      if (seq === resumedAt) return [];
      const scopes = 'also' in intervention ? [intervention.on, ...(intervention.also ?? [])].join(', ') : undefined;
      if (intervention.verb === 'tell') {
        const { verb, agent, text } = intervention;
        return [{ type: 'intervened', ...base, verb, by, on: agentScope(agent), text }];
      }
      const on =
        scopes ?? ('on' in intervention ? intervention.on : 'task' in intervention ? intervention.task : undefined);
      return [{ type: 'intervened', ...base, verb: intervention.verb, by, ...defined({ on }) }];
    }
    case 'gate-checked':
      return [gateEvent(base, event, board)];
    case 'baseline-checked':
      return baselineText(event.facts, board).map((text) => ({ type: 'warning', ...base, text }));
    default:
      return [];
  }
}

function overdueEvent(
  base: Base,
  { message, to, action }: Extract<PlanNews, { type: 'overdue' }>,
  { mail, facts: { roster, locale = 'en' } }: Board,
): RunEvent {
  const asked = mail.get(message);
  const { from, type, action: kind, task } = asked ?? {};
  const line =
    asked === undefined || from === undefined || type === undefined
      ? undefined
      : humanLine(
          { from, to: asked.to, type, ...defined({ action: kind, task_id: task }) },
          JSON.stringify(asked.body),
          locale,
        );
  const person = to === MAIN && agentAt(roster, MAIN) === undefined ? (true as const) : undefined;
  return { type: 'mail-overdue', ...base, message, to, ...defined({ action, line, person }) };
}

/** A message as people see it, in the language of the run. */
export function mailEvent(
  base: Base,
  message: Parameters<typeof humanLine>[0],
  body: string,
  { facts: { locale = 'en' } }: Pick<Board, 'facts'>,
): RunEvent {
  const { from, to, type: kind, action, task_id: task } = message;
  const line = humanLine(message, body, locale);
  return { type: 'mail', ...base, from, to: [...to], kind, ...defined({ action, task }), line };
}

function gateEvent(
  base: Base,
  { facts }: Extract<PlanNews, { type: 'gate-checked' }>,
  { gate, finished }: Board,
): RunEvent {
  const { head, expected, commands } = facts;
  const unchecked = commands.filter(isUnchecked).map(({ run }) => run);
  const failed = commands.flatMap((one) => (one.passed || isUnchecked(one) ? [] : [one.run]));
  const passed = commands.filter((one) => one.passed).length;
  const more = defined({ cannotRun: unchecked.length === 0 ? undefined : unchecked });
  const result =
    head !== expected ? 'void' : finished !== null ? 'finished' : gate.at === 'judging' ? 'judging' : 'refused';
  return { type: 'gate-checked', ...base, head, passed, failed, ...more, result };
}
