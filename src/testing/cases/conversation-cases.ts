import { setTimeout } from 'node:timers/promises';
import type { TurnEvent } from '../../model/turn-event.ts';
import { attach, processEnded, toolRunning, until } from '../runtime-follow.ts';
import {
  completed,
  type ConversationCase,
  insist,
  openSession,
  readWorkspaceFile,
  runToEnd,
  type Stage,
  type Started,
} from '../runtime-stage.ts';
import { VERDICT_SCHEMA } from './work-cases.ts';

/** Longest time that a cancel may take until no process of the turn is alive. */
const STOPPED_MS = 5000;

/** Promises about an agent that asks in the middle of a turn and waits for the answer. */
export const CONVERSATION_CASES: readonly ConversationCase[] = [
  {
    title: 'a permission asked while no engine is alive is given, and the turn is harvested',
    scenario: 'late-request',
    check: async (stage) => {
      const { result, events } = await runWithoutEngine(stage, 'edit');
      insist(result.outcome === 'completed' && result.text.includes('done'), 'the turn did not complete', result);
      const ended = events.find((event) => event.type === 'tool-ended');
      const ran = ended?.type === 'tool-ended' && ended.ok && (ended.output ?? '').includes('tool-ran');
      insist(ran, 'the tool did not run', events);
      insist(result.denials.length === 0, 'the permission was denied', result);
    },
  },
  {
    title: 'a permission asked while no engine is alive is refused where the access does not allow it',
    scenario: 'late-request',
    check: async (stage) => {
      const { result, events } = await runWithoutEngine(stage, 'read-only');
      insist(result.denials.length > 0, 'the denial is not reported', result);
      const ran = events.some((event) => event.type === 'tool-ended' && event.ok);
      insist(!ran, 'the tool ran', events);
    },
  },
  {
    title: 'a turn that is cancelled while a request waits for a person is over within 5 s',
    scenario: 'asked-person',
    check: async (stage) => {
      const started = await stage.start(stage.request({ ask: 'human' }));
      await toolRunning(started);
      await setTimeout(500);
      insist((await readWorkspaceFile(stage.bench, 'asked.txt')) === undefined, 'the tool ran without an answer');
      await cancelled(stage, started);
      insist((await readWorkspaceFile(stage.bench, 'asked.txt')) === undefined, 'the tool ran after the cancel');
    },
  },
  {
    title: 'a turn that is cancelled in the middle of its text is over within 5 s',
    scenario: 'open-text',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      const said = (): boolean => started.events.some((event) => event.type === 'text');
      await until('the agent said nothing', said);
      await cancelled(stage, started);
    },
  },
  {
    title: 'a turn that is cancelled in a tool is over within 5 s',
    scenario: 'long-tool',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await toolRunning(started);
      await cancelled(stage, started);
    },
  },
  {
    title: 'the history of a resumed session counts for nothing',
    scenario: 'history',
    check: async (stage) => {
      const { first, session } = await openSession(stage);
      completed(first);
      const second = await runToEnd(stage, { session });
      const again = second.events.filter((event) => event.type === 'tool-started' || event.type === 'tool-ended');
      insist(again.length === 0, 'a tool of the history was taken for one of this turn', again);
      const { firstToolAt, openTools } = second.turn.activity();
      insist(firstToolAt === undefined && openTools === 0, 'a tool of the history counted as activity');
      insist(!second.result.text.includes('first'), 'a text of the history is in the answer', second.result);
    },
  },
  {
    title: 'an unknown session costs nothing, and a new one can begin in the same place',
    scenario: 'history',
    check: async (stage) => {
      const { session } = await openSession(stage);
      const id = session.id.replace(/[0-9a-f]/g, (digit) => (digit === 'a' ? 'b' : 'a'));
      const prompt = 'This must not reach a model.';
      const lost = await stage.run(stage.request({ session: { ...session, id }, prompt }));
      insist(lost.result.failure?.kind === 'session-not-found', 'the failure has another type', lost.result);
      insist(!stage.bench.received().includes(prompt), 'the prompt reached the agent’s model');
      insist((lost.result.usage?.inputTokens ?? 0) === 0, 'it cost something', lost.result);
      const anew = await runToEnd(stage);
      insist(
        anew.result.session !== undefined && anew.result.session.id !== id,
        'there is no new session',
        anew.result,
      );
    },
  },
  {
    title: 'an answer that breaks its schema is repaired in the same session',
    scenario: 'repaired-answer',
    check: async (stage) => {
      const end = await runToEnd(stage, { outputSchema: VERDICT_SCHEMA });
      const structured = JSON.stringify(end.result.structured);
      insist(structured === '{"verdict":"approve","score":7}', 'the repaired answer is missing', end.result);
      const sessions = new Set(end.events.flatMap((event) => (event.type === 'session-announced' ? [event.id] : [])));
      insist(sessions.size === 1, 'the answer was repaired in another session', [...sessions]);
    },
  },
];

/** A turn whose engine is gone as soon as it has begun, and what the next engine makes of it. */
async function runWithoutEngine(stage: Stage, level: 'read-only' | 'edit') {
  const started = await stage.start(stage.request({ access: { level } }));
  await started.turn.detach();
  await processEnded(stage, started);
  const events: TurnEvent[] = [];
  const result = await attach(stage, started, (event) => events.push(event)).result;
  return { result, events };
}

async function cancelled(stage: Stage, started: Started): Promise<void> {
  const from = performance.now();
  const result = await started.turn.cancel('the operator stopped it');
  const took = performance.now() - from;
  insist(took < STOPPED_MS, `the cancel took ${Math.round(took)} ms`);
  insist(result.outcome === 'cancelled', 'the outcome is not `cancelled`', result);
  const left = await stage.bench.marked(started.request.turnId);
  insist(left.length === 0, 'a process of the turn is still alive', left);
}
