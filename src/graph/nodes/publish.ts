import { Command, END } from '@langchain/langgraph';
import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import { concludeRun, countTasks } from '../../rules/conclude.ts';
import { mailLeft } from '../../rules/mail-left.ts';
import type { NodeContext } from './node-context.ts';

/**
 * Publishes the run's work. If that fails, so does the run, whatever the plan says. The mailbox is closed before it, in one
 * transaction: what people sent until then is read first, and nothing is sent that no one would read.
 */
export function createPublish({ ports, book }: NodeContext) {
  return async (state: SquadStateValue): Promise<Command> => {
    failpoint('publish.before');
    if (!ports.ledger.mail.finish(ports.lease, state.cursor)) return new Command({ goto: 'collect' });
    failpoint('publish.closed');
    const board = book.boardAt(state.cursor);
    const facts = await ports.publisher.publish(board);
    const { problem, made, added } = facts;
    const { outcome, headline, why } = concludeRun({ board, problem, made, added, strict: ports.definition.strict });
    const summary = { outcome, headline, tasks: countTasks(board) };
    const left = defined({ mailLeft: mailLeft(ports.ledger.mail.status(state.runId)) });
    ports.ledger.note(ports.lease, RUN_EVENTS.published, plainJson({ ...facts, ...left, summary }));
    failpoint('publish.noted');
    const update: SquadStateUpdate = { phase: 'finished', result: { outcome, why } };
    return new Command({ goto: END, update });
  };
}
