import { TERMINAL, type Message } from '../../model/people/message.ts';
import type { Intent, Right } from '../../model/people/verbs.ts';
import { usageError } from '../../model/errors.ts';
import { activeSprint } from '../../model/sprint/team.ts';
import { unclear } from '../../rules/people/refusals.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { plainLine } from '../../text/plain-text.ts';
import { answer } from '../answer.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { discoverBefore } from '../team/discover.ts';
import { kickoffBy } from '../team/kickoff.ts';
import { requestIn } from '../team/list-requests.ts';
import { openSprint } from '../team/open-sprint.ts';
import { lookAtTeam, runStateIn, teamIn, type SeenTeam } from '../team/read-team.ts';
import { receivedText } from '../team/received-text.ts';
import { cancelRequest, requestTaker } from '../team/requests.ts';
import { finishBegun } from '../team/step-team.ts';
import { stopActive } from '../team/stop-active.ts';
import { readTeamSettings } from '../team/team-settings.ts';
import { actAction } from './act-action.ts';
import type { Settled } from './settle.ts';
import { sprintStatusOf, statusAbout } from './status-of.ts';

interface Act {
  readonly id: string;
  readonly message: Message;
  readonly intent: Intent;
  readonly rights: readonly Right[];
}

/** Does what a message means, once, and resolves with what belongs into the transaction that settles it. Throws what its sender has to read. */
export async function act(workspace: OpenedWorkspace, given: Act): Promise<(ledger: Ledger) => Settled> {
  const { intent, rights } = given;
  const { composition } = workspace;
  switch (intent.verb) {
    case 'request':
      return takeRequest(workspace, given, intent.text);
    case 'cancel':
      return (ledger) => cancelled(intent.request, cancelRequest(ledger, intent.request, composition.clock.now()));
    case 'status':
      return done(await statusAbout(workspace, intent.about));
    case 'sprint-status':
      return done(await sprintStatusOf(workspace));
    case 'sprint-start':
      return done(await startSprint(workspace, given, intent.milestone));
    case 'sprint-stop':
      return done(await endSprint(workspace, given, intent.now));
    case 'action':
      return done(await actAction(workspace, intent, { key: given.id, by: personOf(given.message) }));
    case 'answer':
      return done(await giveAnswer(workspace, given.id, intent));
    case 'none':
      return done(intent.reply.trim() === '' ? unclear(rights) : intent.reply);
    default:
      return intent satisfies never;
  }
}

function done(says: string): () => Settled {
  return () => ({ state: 'done', says });
}

/** As it stands in requests and sprints. */
function personOf({ channel, name, sender }: Message): string {
  return channel === TERMINAL ? name : plainLine(`${name.trim() === '' ? sender : name} (${channel})`, 80);
}

function takeRequest(
  { composition }: OpenedWorkspace,
  { id: key, message }: Act,
  text: string,
): (ledger: Ledger) => Settled {
  return (ledger) => {
    const take = requestTaker(ledger, { now: () => composition.clock.now(), redactor: composition.redactor([]) });
    const added = take({ text, by: personOf(message), key, attachments: message.attachments });
    return { state: 'done', request: added.id, says: receivedText(added, requestIn(seenNow(ledger), added.id)) };
  };
}

/** Within a transaction. */
function seenNow(ledger: Ledger): SeenTeam {
  return { team: teamIn(ledger), runState: (run) => runStateIn(ledger, run) };
}

function cancelled(id: string, items: readonly string[]): Settled {
  const stay = items.length === 0 ? '' : ` Its items stay in the backlog: ${items.join(', ')}.`;
  return { state: 'done', request: id, says: `${id} is cancelled.${stay}` };
}

async function startSprint(workspace: OpenedWorkspace, { id: key, message }: Act, text: string): Promise<string> {
  const begun = (): string | undefined =>
    [...lookAtTeam(workspace).team.sprint].find(([, { kickoff }]) => kickoff.key === key)?.[0];
  const says = (id: string): string => `The sprint ${id} begins: ${plainLine(text, 300)}`;
  const before = begun();
  if (before !== undefined) return says(before);
  // One whose run is over may only have to be closed.
  if (activeSprint(lookAtTeam(workspace).team) !== undefined) await finishBegun(workspace);
  const settings = await readTeamSettings(workspace);
  const { attachments } = message;
  const kickoff = kickoffBy(workspace, { text, by: personOf(message), attachments, key });
  await discoverBefore(workspace, settings, 'open-sprint');
  try {
    return says(await openSprint(workspace, settings, { kickoff }));
  } catch (error) {
    // Another process that does the same was faster.
    const id = begun();
    if (id === undefined) throw error;
    return says(id);
  }
}

async function endSprint(workspace: OpenedWorkspace, { id: key, message }: Act, now: boolean): Promise<string> {
  const id = await stopActive(workspace, { by: personOf(message), now, key });
  if (id === undefined) throw usageError('no sprint is active', '');
  return `${id} wraps up: ${now ? 'its todos are ended' : 'what runs may finish, and no todo starts any more'}; the rest is carried over.`;
}

async function giveAnswer(
  { host, composition }: OpenedWorkspace,
  key: string,
  { run, text }: Extract<Intent, { verb: 'answer' }>,
): Promise<string> {
  const { name, question, answer: given, open } = await answer({ host, composition }, run, text, undefined, { key });
  const left = open.map(({ text: one }) => `It still asks: ${plainLine(one, 300)}`);
  return [`${name} has your answer to ${plainLine(question, 80)}: ${plainLine(given, 300)}`, ...left].join('\n');
}
