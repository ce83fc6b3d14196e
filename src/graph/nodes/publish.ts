import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import { failpoint } from '../../substrate/failpoint.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import { concludeRun } from '../decisions/conclude.ts';
import { mailLeft } from '../decisions/mail-left.ts';
import type { NodeContext } from './node-context.ts';

/** Publishes the run's work. If that fails, so does the run, whatever the plan says. */
export function createPublish({ ports, book }: NodeContext) {
  return async (state: SquadStateValue): Promise<SquadStateUpdate> => {
    const board = book.boardAt(state.cursor);
    failpoint('publish.before');
    const facts = await ports.publisher.publish(board);
    const published = { ...facts, ...defined({ mailLeft: mailLeft(ports.ledger.mail.status(state.runId)) }) };
    ports.ledger.note(ports.lease, RUN_EVENTS.published, plainJson(published));
    failpoint('publish.noted');
    const { outcome, why } = concludeRun({ board, problem: facts.problem, strict: ports.definition.strict });
    return { phase: 'finished', result: { outcome, why } };
  };
}
