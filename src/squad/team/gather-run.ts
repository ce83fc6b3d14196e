import { z } from 'zod';
import { attemptName } from '../../model/attempt-id.ts';
import type { Attempt } from '../../model/attempt.ts';
import { saidIn } from '../../model/mail/human-line.ts';
import type { Todo } from '../../model/sprint/sprint.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { parseJson } from '../../text/json.ts';
import { asObject } from '../../text/json.ts';
import { findDefinition } from '../../view/read-run.ts';
import type { RelayMessage, RoleSession, RoleTurn, RunFacts } from '../../view/sprint/run-facts.ts';

type Readable = Pick<Ledger, 'run' | 'events' | 'attempts' | 'settlement'> & {
  readonly mail: Pick<Ledger['mail'], 'message' | 'bodyOf' | 'deliveries'>;
};

/** The turns, sessions and mail of a run, from its ledger. A run that is not there has none. */
export function gatherRun(ledger: Readable, run: string, todos: readonly Todo[]): RunFacts {
  const row = ledger.run(run);
  const definition = row === undefined ? undefined : findDefinition(ledger, row);
  if (row === undefined || definition === undefined) return { turns: [], sessions: [], messages: [] };
  const roles = new Map(definition.agents.map(({ name, role }) => [name, role]));
  const attempts = ledger.attempts({ runId: row.id }).filter(({ kind }) => kind === 'turn');
  const sessions = new Map<string, RoleSession>();
  const turns = attempts
    .toSorted((a, b) => a.claimedAt - b.claimedAt)
    .map((attempt) => turnOf(ledger, attempt, { role: roles.get(attempt.agent) ?? 'unknown', todos, sessions }));
  return { turns, sessions: [...sessions.values()], messages: messagesOf(ledger, row.id) };
}

interface TurnOf {
  readonly role: string;
  readonly todos: readonly Todo[];
  readonly sessions: Map<string, RoleSession>;
}

function turnOf(ledger: Readable, attempt: Attempt, { role, todos, sessions }: TurnOf): RoleTurn {
  const { id, agent, runtime, taskId, claimedAt } = attempt;
  const settlement = ledger.settlement(id);
  const result = settlement?.result;
  const startedAt = result?.startedAt ?? claimedAt;
  const own = {
    id: attemptName(attempt),
    role,
    agent,
    runtime,
    task: taskId,
    title: titleOf(taskId, todos),
    startedAt,
  };
  if (settlement === undefined || result === undefined) return own;
  if (result.session !== undefined) {
    const key = `${agent} ${result.session.id}`;
    const before = sessions.get(key);
    sessions.set(key, {
      ...{ role, agent, runtime, session: result.session.id, startedAt: before?.startedAt ?? startedAt },
      ...{ lastUsedAt: settlement.at, turns: (before?.turns ?? 0) + 1 },
    });
  }
  return {
    ...{ ...own, endedAt: settlement.at, outcome: result.outcome, costUsd: result.usage?.costUsd ?? null },
    ...(result.structured === undefined ? { text: result.text } : { answer: result.structured }),
  };
}

/** Tasks of a todo's chain begin with its id. */
function titleOf(task: string, todos: readonly Todo[]): string {
  const todo = todos
    .filter(({ id }) => task === id || task.startsWith(`${id}-`))
    .toSorted((a, b) => b.id.length - a.id.length)[0];
  return todo === undefined ? task : `${todo.title} (${task})`;
}

const sentSchema = z.object({ id: z.string() });

function messagesOf(ledger: Readable, run: string): RelayMessage[] {
  return ledger.events({ stream: run, types: ['mail-sent'] }).flatMap(({ data }) => {
    const sent = sentSchema.safeParse(asObject(data)).data;
    const message = sent === undefined ? undefined : ledger.mail.message(sent.id);
    if (message === undefined) return [];
    const { id, from, type, action, ts, body_encoding: encoding } = message;
    const text = ledger.mail.bodyOf(message);
    const body = encoding === 'json' ? (parseJson(text) ?? text) : text;
    const says = saidIn(message, text);
    return ledger.mail.deliveries(id).map(({ recipient, state }, index) => ({
      ...{ id: index === 0 ? id : `${id}-${index + 1}`, from, to: recipient, body, says, sentAt: ts },
      kind: action === undefined ? type : `${type} ${action}`,
      isRead: state !== 'waiting' && state !== 'leased',
    }));
  });
}
