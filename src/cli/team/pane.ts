import { memberAt } from '../../model/mail/policy.ts';
import { compose } from '../../engine/compose.ts';
import { BEAT_MS } from '../../model/mail/times.ts';
import { readRun } from '../../view/read-run.ts';
import { isStorageError } from '../../model/storage-error.ts';
import { errorText } from '../../model/errors.ts';
import type { MailParty } from '../../substrate/ports/mailbox.ts';
import { letThroughBy } from '../../model/let-through.ts';
import type { CommandContext } from '../command-context.ts';
import type { OpenedMail } from '../mail/open-mail.ts';
import { plainLine } from '../../text/plain-text.ts';
import { openPaneMail, paneTitle, type PaneMail } from './pane-mail.ts';
import type { Ticket } from '../../squad/ticket.ts';
import { paneWords, type PaneWords } from './pane-words.ts';
import { squadOn } from '../../squad/squad.ts';
import { readTyped } from './typed-line.ts';
import { isTurnEvent, type RunEvent } from '../../model/run-event.ts';
import { sentenceOf } from '../../view/sentence.ts';
import { followRun, type FollowPorts } from '../../squad/follow-run.ts';
import { lineOf, renderRunEvent } from '../render/run-lines.ts';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Output } from '../output.ts';

const LOOK_MS = 250;
/** Without a change on disk: the ages in the title grow. */
const LOOK_AGAIN_MS = 5_000;

/** Runs one member's pane until `ended`: its agent's turns, its mail, and what a person types. */
export async function runPane(
  context: CommandContext,
  opened: OpenedMail,
  party: MailParty,
  ticket: Ticket,
  ended: AbortController,
): Promise<void> {
  const { address } = party;
  const words = paneWords(ticket.locale);
  const agent = memberAt(opened.policy, address)?.agent ?? null;
  const tell = async (text: string, now: boolean): Promise<void> => {
    if (agent === null) return;
    try {
      await squadOn(context.host).intervene(opened.run.id, { verb: 'tell', agent, text, now });
      screen.line(words.noted(plainLine(agent, 60), now));
    } catch (error) {
      screen.line(`${words.notSent}  ${plainLine(errorText(error), 400)}`);
    }
  };
  let mail: PaneMail | undefined;
  // The ledger's version does not change with this process's own writes.
  const news = { isDue: true };
  const screen = openScreen(context.output, `${address}> `, {
    onLine: (text) => {
      if (mail !== undefined) obey(text, { address, agent, tell, mail, screen, words, ended });
      news.isDue = true;
    },
    onEnd: () => ended.abort(),
  });
  mail = openPaneMail(opened, party, ticket, (line) => screen.line(line));
  const turns = turnsOf(context, opened, address, screen);
  try {
    screen.line(introduction(opened, address, words));
    await watch(opened, { mail, turns, screen, news, ticket }, ended.signal);
  } finally {
    await turns?.close();
    screen.close();
  }
}

interface Pane {
  readonly mail: PaneMail;
  readonly screen: Screen;
  readonly words: PaneWords;
}

interface Obeys {
  readonly address: string;
  /** null: the member is a person. */
  readonly agent: string | null;
  /** Prints what came of it. */
  readonly tell: (text: string, now: boolean) => Promise<void>;
  readonly ended: AbortController;
}

function obey(text: string, { address, agent, tell, mail, screen, words, ended }: Pane & Obeys): void {
  const isAgent = agent !== null;
  const typed = readTyped(text, { address, asks: mail.asks(), isAgent }, words);
  switch (typed.do) {
    case 'nothing':
      return;
    case 'help':
      for (const line of words.help(address, isAgent)) screen.line(line);
      return;
    case 'asks':
      return mail.showAsks();
    case 'quit':
      return ended.abort();
    case 'refused':
      return screen.line(`${words.notSent}  ${typed.why}`);
    case 'tell':
      return void tell(typed.text, typed.now);
    case 'say':
    case 'reply':
      return mail.send(typed);
    default:
      return typed satisfies never;
  }
}

/** undefined: the member is a person and has no turns. */
function turnsOf(
  { host }: CommandContext,
  { ledger, run, policy, directory }: OpenedMail,
  address: string,
  screen: Screen,
): Turns | undefined {
  const agent = memberAt(policy, address)?.agent ?? null;
  if (agent === null) return undefined;
  const composition = compose(host);
  const redactor = composition.redactor(letThroughBy(readRun(ledger, run.id, null).definition));
  const ports = { ledger, composition, redactor, directory };
  return followTurns(ports, (line) => screen.line(line), run.id, agent);
}

function introduction({ run, policy }: OpenedMail, address: string, words: PaneWords): string {
  const { agent = null, role = '' } = memberAt(policy, address) ?? {};
  // An address or an agent that is called as its role.
  const names = [...new Set([role, agent ?? ''])].filter((name) => name !== address);
  return words.introduction(address, run.name, agent === null ? words.person : plainLine(names.join(' '), 100));
}

async function watch(
  { mail: box, ledger, run, clock }: OpenedMail,
  pane: { mail: PaneMail; turns: Turns | undefined; screen: Screen; news: { isDue: boolean }; ticket: Ticket },
  ended: AbortSignal,
): Promise<void> {
  let version: number | undefined;
  let lookedAt = -Infinity;
  let beatAt = -Infinity;
  const look = async (): Promise<void> => {
    const now = clock.monotonic();
    if ((box.nextDue(run.id) ?? Infinity) <= clock.now()) box.tick(run.id);
    if (now - beatAt >= BEAT_MS) {
      beatAt = now;
      pane.mail.beat();
    }
    const changed = ledger.dataVersion();
    if (!pane.news.isDue && changed === version && now - lookedAt < LOOK_AGAIN_MS) return;
    pane.news.isDue = false;
    version = changed;
    lookedAt = now;
    await pane.turns?.look();
    await pane.mail.look();
    pane.screen.title(paneTitle(pane.ticket.windowName, pane.mail.waiting(), pane.ticket.locale));
  };
  while (!ended.aborted) {
    try {
      await look();
    } catch (error) {
      // A full disk does not end the pane.
      if (!isStorageError(error)) throw error;
      pane.screen.line(`note      ${plainLine(errorText(error), 300)}`);
      await clock.sleep(LOOK_AGAIN_MS, ended);
    }
    await clock.sleep(LOOK_MS, ended);
  }
}

/** The pane names this many of the turns that ended before it was opened. */
const MOST_EARLIER = 5;

type Turns = ReturnType<typeof followTurns>;

/** An agent's turns with the output of the live one. `print` shows a line. */
function followTurns(ports: FollowPorts, print: (line: string) => void, runId: string, agent: string) {
  let events: RunEvent[] | undefined = [];
  const show = (event: RunEvent): void => {
    const line = isTurnEvent(event) ? lineOf(sentenceOf(event)) : renderRunEvent(event);
    if (line !== undefined) print(isTurnEvent(event) ? `  ${line}` : line);
  };
  const take = (event: RunEvent): void => {
    if (events === undefined) show(event);
    else events.push(event);
  };
  const run = followRun(ports, runId, undefined, take, agent);
  return {
    /** Shows what is new, in order. Calls must not overlap. */
    look: async (): Promise<void> => {
      await run.look();
      for (const event of withoutEarlier(events ?? [])) show(event);
      events = undefined;
    },
    close: run.close,
  };
}

/** Reduces turns that have ended to the end events of the last few. */
function withoutEarlier(events: readonly RunEvent[]): readonly RunEvent[] {
  const ends = events.filter(({ type }) => type === 'attempt-ended');
  const over = new Set(ends.map((event) => 'attemptId' in event && event.attemptId));
  return [
    ...ends.slice(-MOST_EARLIER),
    ...events.filter((event) => !('attemptId' in event && over.has(event.attemptId))),
  ];
}

const CLEAR_BELOW = '\u001b[J';

/** A pane: output lines above the line that a person types. */
type Screen = ReturnType<typeof openScreen>;

interface Listener {
  onLine(text: string): void;
  /** Ctrl-C, Ctrl-D, or the terminal is gone. */
  onEnd(): void;
}

/** Without a terminal it only reads and prints lines. */
function openScreen(output: Output, prompt: string, listener: Listener) {
  const { stdin, stdout } = process;
  const isTerminal = stdin.isTTY && stdout.isTTY;
  const typing = createInterface({ input: stdin, output: stdout, terminal: isTerminal, prompt, historySize: 200 });
  let isOpen = true;
  let shown = '';
  typing.on('line', (text) => {
    listener.onLine(text);
    if (isOpen && isTerminal) typing.prompt();
  });
  typing.on('SIGINT', () => listener.onEnd());
  typing.on('close', () => listener.onEnd());
  // A closed terminal also sends a signal.
  stdin.on('error', () => listener.onEnd());
  if (isTerminal) typing.prompt();
  return {
    line: (text: string): void => {
      if (!isTerminal || !isOpen) return output.line(text);
      // Removes the typed line, which may have several rows, and prints it again below.
      const rows = typing.getCursorPos().rows;
      stdout.write(`\r${rows > 0 ? `\u001b[${rows}A` : ''}${CLEAR_BELOW}`);
      output.line(text);
      typing.prompt(true);
    },
    /** Sets the pane's title. */
    title: (text: string): void => {
      if (!stdout.isTTY || text === shown) return;
      shown = text;
      stdout.write(`\u001b]2;${plainLine(text, 200)}\u0007`);
    },
    close: (): void => {
      if (!isOpen) return;
      isOpen = false;
      typing.close();
      // A pending read must not keep the process alive. What is read from a file, as /dev/null, has no handle.
      stdin.pause();
      if (stdin instanceof Socket) stdin.unref();
    },
  };
}
