import { isSquadError } from '../../model/errors.ts';
import { TERMINAL, type Message } from '../../model/people/message.ts';
import type { Intent } from '../../model/people/verbs.ts';
import { asksYes, notDone } from '../../rules/people/asks-yes.ts';
import { decidePeople, type PeopleDecision } from '../../rules/people/decide-people.ts';
import { cannotReadYet } from '../../rules/people/refusals.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { TrustOption } from '../new-run.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { lookAtTeam } from '../team/read-team.ts';
import { act } from './act.ts';
import { openRead, submitRead } from './read-messages.ts';
import { lookAtPeople, readRights, type RightsOf, type SeenPeople } from './read-people.ts';
import { settle, type Settled } from './settle.ts';

/** One step that was made. `until`: epoch ms; undefined: until something changes. */
export interface PeopleStep {
  readonly did: PeopleDecision['do'];
  readonly text: string;
  readonly until?: number | undefined;
}

/** Does the one thing that is next for messages of people. Safe to repeat, and beside others that do the same. */
export async function stepPeople(workspace: OpenedWorkspace, trust: TrustOption = {}): Promise<PeopleStep> {
  const rightsOf = await readRights(workspace);
  const seen = lookAtPeople(workspace, rightsOf);
  const own = ({ channel, sender }: Pick<Message, 'channel' | 'sender'>) => {
    const rights = rightsOf(channel, sender);
    return rights === 'held' ? undefined : rights;
  };
  const decision = decidePeople({ ...seen, now: workspace.composition.clock.now(), rightsOf: own });
  return carryOut(workspace, { seen, rightsOf, decision, ...trust });
}

interface Step extends TrustOption {
  readonly seen: SeenPeople;
  readonly rightsOf: RightsOf;
  readonly decision: PeopleDecision;
}

async function carryOut(workspace: OpenedWorkspace, { decision, seen, rightsOf, ...trust }: Step): Promise<PeopleStep> {
  const did = decision.do;
  switch (decision.do) {
    case 'wait':
      return { did, text: 'no message waits', until: decision.until };
    case 'read':
      await openRead(workspace, decision.messages, seen.people.ask.size);
      return { did, text: `the orchestrator gets ${decision.messages.length} of the messages` };
    case 'submit-read':
      await submitAgreed(workspace, decision.ask, { seen, rightsOf, ...trust });
      return { did, text: `${decision.ask} is queued` };
    default: {
      const message = seen.people.message.get(decision.message);
      if (message !== undefined) await settleMessage(workspace, decision, message, rightsOf);
      return { did, text: wordsOf(decision, message) };
    }
  }
}

/** Repeating it changes nothing before a person has done something. */
const FOR_PERSON: ReadonlySet<string> = new Set(['not-trusted', 'bad-input', 'usage', 'wrong-environment']);

/** Where a run cannot begin, its senders hear so, and can send their messages again. At a terminal the error itself is shown. */
async function submitAgreed(
  workspace: OpenedWorkspace,
  ask: string,
  { seen: { people }, rightsOf, ...trust }: Omit<Step, 'decision'>,
): Promise<void> {
  try {
    await submitRead(workspace, { ask, people, rightsOf, ...trust });
  } catch (error) {
    if (!isSquadError(error) || !FOR_PERSON.has(error.code)) throw error;
    for (const id of people.ask.get(ask)?.messages ?? []) {
      const message = people.message.get(id);
      if (message === undefined || message.channel === TERMINAL || people.outcome.has(id)) continue;
      const rights = rightsOf(message.channel, message.sender);
      const says = cannotReadYet(rights === 'held' ? [] : (rights ?? []));
      await settle(workspace, { id, message }, () => ({ state: 'refused', says }));
    }
    throw error;
  }
}

type OfMessage = Extract<PeopleDecision, { readonly message: string }>;

async function settleMessage(
  workspace: OpenedWorkspace,
  decision: OfMessage,
  message: Message,
  rightsOf: RightsOf,
): Promise<void> {
  const { message: id } = decision;
  const settled = (state: Settled['state'], says: string) => (): Settled => ({ state, says });
  switch (decision.do) {
    case 'refuse':
      return settle(workspace, { id, message }, settled('refused', decision.says ?? ''));
    case 'ask-yes':
      return settle(workspace, { id, message }, settled('waits', asksYes(decision.intent, lookAtTeam(workspace).team)));
    case 'drop': {
      const says = notDone(decision.intent, lookAtTeam(workspace).team);
      return settle(workspace, { id, message, by: decision.no }, settled('dropped', says));
    }
    case 'act': {
      const rights = rightsOf(message.channel, message.sender);
      const given = { id, message, intent: decision.intent, rights: rights === 'held' ? [] : (rights ?? []) };
      return acting(workspace, { id, message, by: decision.yes }, async () => act(workspace, given));
    }
    default:
      return decision satisfies never;
  }
}

/** Errors that a sender can do something about. Others are thrown, and the message is tried again. */
const FOR_SENDER: ReadonlySet<string> = new Set(['usage', 'bad-input', 'workspace-busy']);

async function acting(
  workspace: OpenedWorkspace,
  about: Parameters<typeof settle>[1],
  work: () => Promise<(ledger: Ledger) => Settled>,
): Promise<void> {
  try {
    await settle(workspace, about, await work());
  } catch (error) {
    if (!isSquadError(error) || !FOR_SENDER.has(error.code)) throw error;
    await settle(workspace, about, () => ({ state: 'refused', says: sentence(error.message) }));
  }
}

function sentence(text: string): string {
  return `Nothing was done: ${text}.`;
}

const DID: Readonly<Record<OfMessage['do'], (intent?: Intent) => string>> = {
  act: (intent) => `did “${intent?.verb}”`,
  'ask-yes': (intent) => `asked for a yes to “${intent?.verb}”`,
  drop: (intent) => `dropped “${intent?.verb}”`,
  refuse: () => 'refused a message',
};

/** For the log: never the text itself. */
function wordsOf(decision: OfMessage, message: Message | undefined): string {
  const intent = 'intent' in decision ? decision.intent : undefined;
  return `${DID[decision.do](intent)} of ${message?.sender ?? 'no one'} in ${message?.channel ?? 'no channel'}`;
}
