import { join } from 'node:path';
import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import type { Message } from '../../model/people/message.ts';
import type { People } from '../../model/people/people.ts';
import type { ReadingOptions } from '../../model/people/reading-options.ts';
import { activeSprint, requestStateOf } from '../../model/sprint/team.ts';
import { verbsFor } from '../../rules/people/decide-people.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { TrustOption } from '../new-run.ts';
import { runIdOf, withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { submit } from '../submit.ts';
import { lookAtTeam, type SeenTeam } from '../team/read-team.ts';
import { actionNames } from './act-action.ts';
import { askingRuns } from './asking-runs.ts';
import type { RightsOf } from './read-people.ts';

/** Records which messages one run has to read. Its run is submitted next. `known`: how many asks there were when that was decided. */
export async function openRead(workspace: OpenedWorkspace, messages: readonly string[], known: number): Promise<void> {
  const { composition, directory } = workspace;
  await briefly(join(directory, 'people.lock'), async () =>
    withLedger(workspace, 'write', (ledger) => {
      const { length } = ledger.records(PEOPLE_KINDS.ask);
      // Another process was faster.
      if (length !== known) return;
      const id = `ask-${length + 1}`;
      const value = { run: runIdOf(directory, id), messages: [...messages], at: composition.clock.now() };
      ledger.writeRecord({ kind: PEOPLE_KINDS.ask, id, value: plainJson(value), after: 0 });
      failpoint('messages.opened');
    }),
  );
}

interface Submit extends TrustOption {
  readonly ask: string;
  readonly people: People;
  readonly rightsOf: RightsOf;
}

/** Submits the run of an ask that is on record. Safe to repeat. */
export async function submitRead(
  workspace: OpenedWorkspace,
  { ask, people, rightsOf, ...trust }: Submit,
): Promise<void> {
  const { host, composition } = workspace;
  const asked = people.ask.get(ask)?.messages ?? [];
  const messages = asked.flatMap((id) => {
    const message = people.message.get(id);
    return message === undefined ? [] : [{ message: id, ...readable(message, rightsOf) }];
  });
  const options: ReadingOptions = {
    messages: messages.map((one, index) => ({ id: `m-${index + 1}`, ...one })),
    ...(await surroundings(workspace, lookAtTeam(workspace))),
  };
  await submit({ host, composition }, { reading: options }, { key: ask, name: ask, ...trust });
  failpoint('messages.submitted');
}

function readable({ text, attachments, channel, sender }: Message, rightsOf: RightsOf) {
  const rights = rightsOf(channel, sender);
  const verbs = verbsFor(rights === undefined || rights === 'held' ? [] : rights);
  return { text, files: attachments.map(({ name }) => name), verbs };
}

/** More would hide the text. */
const MOST_REQUESTS = 50;

async function surroundings(
  workspace: OpenedWorkspace,
  { team, runState }: SeenTeam,
): Promise<Omit<ReadingOptions, 'messages'>> {
  const isOpen = (id: string): boolean =>
    !['done', 'refused', 'cancelled'].includes(requestStateOf(team, id, (run) => runState(run) === 'over'));
  const requests = [...team.request].filter(([id]) => isOpen(id)).slice(-MOST_REQUESTS);
  return {
    requests: requests.map(([id, { text }]) => ({ id, text: plainLine(text, 200) })),
    runs: askingRuns(workspace).map(({ name, asks }) => ({ name, asks: asks.map(({ text }) => plainLine(text, 300)) })),
    actions: await actionNames(workspace),
    sprint: activeSprint(team) ?? null,
  };
}
