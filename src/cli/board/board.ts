import cliTruncate from 'cli-truncate';
import { errorText } from '../../model/errors.ts';
import { WHOLE_RUN } from '../../model/plan/scope.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { RunProgress } from '../../view/usage-count.ts';
import type { InterventionRequest } from '../../model/plan/verbs.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Size, Terminal } from '../output.ts';
import type { BoardState } from './board-state.ts';
import { renderFrame } from './frame.ts';
import { actionOf, lookAfter, NEWEST, type Action, type Key, type Look } from './keys.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import { Screen } from './screen.ts';
import { takeEvent, type BoardView, type KeyHint } from './view.ts';
import { emitKeypressEvents } from 'node:readline';

/** An answer to a key is read by then. */
const NOTICE_MS = 5_000;
/** Printed lines get one in this many rows of the terminal, and at least one. */
const PRINTED_SHARE = 8;

/** Asks a person at the terminal for a note to an agent, to the `chosen` one if there is one. undefined: they write none. */
export type AskNote = (about: {
  readonly agents: readonly string[];
  readonly chosen: string | undefined;
  /** Aborted: the board has closed, and takes no note. */
  readonly signal: AbortSignal;
}) => Promise<Extract<InterventionRequest, { verb: 'tell' }> | undefined>;

/** Given by the command that shows the board. */
export interface BoardActions {
  /** The use so far; undefined: not known yet. */
  progress(state: BoardState): RunProgress | undefined;
  /** The team of the run; absent, or undefined: it has none. */
  team?(): ShownTeam | undefined;
  intervene(request: InterventionRequest): Promise<unknown>;
  /** Asks the open questions at the terminal, for which the board goes away; undefined: no person can be asked here. */
  answer(): (() => Promise<void>) | undefined;
  readonly askNote: AskNote;
  /** Hint beside the key Ctrl-C; absent: no hint. */
  readonly interrupting?: string;
  /** Shown at the first `q`, so that a second one leaves the board; absent: the first one leaves it. */
  readonly quitting?: string | undefined;
  quit(): void;
}

/** A run on a terminal: the frame, the lines that are printed meanwhile, and a person's keys. */
export class Board {
  readonly #terminal: Terminal;
  readonly #actions: BoardActions;
  readonly #screen: Screen;
  #state: BoardState;
  #look: Look = NEWEST;
  #notice: { readonly text: string; readonly until: number } | undefined;
  /** A key that has to be pressed twice, and was once. */
  #armed: Action['do'] | undefined;
  #hasKeys = false;
  readonly #closed = new AbortController();

  constructor(terminal: Terminal, actions: BoardActions, state: BoardState) {
    this.#terminal = terminal;
    this.#actions = actions;
    this.#state = state;
    this.#screen = new Screen(terminal, {
      draw: (size, printed) => this.#rows(size, printed),
      onShown: () => {
        const stop = readKeys((key) => this.#press(key));
        this.#hasKeys = process.stdin.isTTY;
        return stop;
      },
    });
  }

  take(event: RunEvent): void {
    this.#state = takeEvent(this.#state, event);
    this.#screen.refresh();
  }

  print(line: string): void {
    this.#screen.print(line);
  }

  /** A text that the next one or the next key replaces. */
  notice(text: string): void {
    this.#notice = { text, until: performance.now() + NOTICE_MS };
    this.#screen.refresh('now');
  }

  /** Gives the terminal to `work`. What is printed through the board meanwhile appears afterwards. */
  async away<T>(work: () => Promise<T>): Promise<T> {
    this.#screen.suspend();
    try {
      return await work();
    } finally {
      this.#screen.resume();
    }
  }

  close(): void {
    this.#closed.abort();
    this.#screen.close();
  }

  #rows({ columns, rows }: Size, printed: readonly string[]): readonly string[] {
    const above = printed.slice(-Math.max(1, Math.floor(rows / PRINTED_SHARE))).slice(0, Math.max(0, rows - 1));
    const { open, scrolled } = this.#look;
    const notice = (this.#notice?.until ?? 0) > performance.now() ? this.#notice?.text : undefined;
    const view = {
      ...{ state: this.#state, now: Date.now(), progress: this.#actions.progress(this.#state), open, scrolled },
      ...{ team: this.#actions.team?.(), keys: this.#hasKeys ? this.#hints() : [], notice },
    };
    const size = { columns, rows: rows - above.length, colour: this.#terminal.colour };
    return [...above.map((line) => cliTruncate(line, columns)), ...renderFrame(view, size)];
  }

  #hints(): KeyHint[] {
    const { agents, questions, pauses, ended } = this.#state;
    const hint = (key: string, does: string, isThere = true): KeyHint[] => (isThere ? [{ key, does }] : []);
    const isOpen = this.#look.open !== undefined;
    return [
      ...hint('a', 'answer', questions.size > 0 && this.#actions.answer() !== undefined),
      ...hint('m', 'note', ended === undefined && agents.size > 0),
      ...hint('↑↓', 'scroll', isOpen),
      ...hint('tab', isOpen ? 'next agent' : 'transcripts'),
      ...hint('esc', 'back', isOpen),
      ...hint('p', pauses.get(WHOLE_RUN)?.verb === 'pause' ? 'resume' : 'pause', ended === undefined),
      ...hint('d', 'drain', ended === undefined),
      ...hint('q', 'leave'),
      ...hint(
        'Ctrl-C',
        this.#actions.interrupting ?? '',
        this.#actions.interrupting !== undefined && ended === undefined,
      ),
    ];
  }

  #press(key: Key): void {
    const action = actionOf(key);
    if (action === undefined) return;
    const isSecond = this.#armed === action.do;
    this.#armed = undefined;
    if (action.do !== 'signal') this.#notice = undefined;
    const agents = [...this.#state.agents.keys()];
    const spans = { page: Math.floor(this.#terminal.size().rows / 2), most: this.#linesBack() };
    this.#look = lookAfter(this.#look, action, agents, spans);
    this.#act(action, isSecond);
    this.#screen.refresh('now');
  }

  #linesBack(): number {
    const { agents, activity } = this.#state;
    const { open } = this.#look;
    if (open === undefined) return activity.length;
    const { transcript = [] } = agents.get(open) ?? {};
    return transcript.reduce((sum, { text }) => sum + text.split('\n').length, 0);
  }

  #act(action: Action, isSecond: boolean): void {
    const { quitting } = this.#actions;
    switch (action.do) {
      case 'signal':
        if (action.signal === 'SIGQUIT') this.close();
        // To the whole job, as a terminal does whose keys no program reads.
        return void process.kill(0, action.signal);
      case 'pause': {
        const isPaused = this.#state.pauses.get(WHOLE_RUN)?.verb === 'pause';
        return this.#steer({ verb: isPaused ? 'resume' : 'pause' }, isPaused ? 'Resumed.' : PAUSED);
      }
      case 'drain':
        if (isSecond) return this.#steer({ verb: 'drain' }, 'Turns finish; then the engine ends.');
        return this.#arm('drain', 'd again: turns finish, then the engine ends.');
      case 'quit':
        if (isSecond || quitting === undefined) return this.#actions.quit();
        return this.#arm('quit', quitting);
      case 'answer':
        return this.#answer();
      case 'tell':
        return this.#tell();
      case 'redraw':
        return this.#screen.repaint();
      default:
        return undefined;
    }
  }

  #answer(): void {
    const answer = this.#state.questions.size === 0 ? undefined : this.#actions.answer();
    if (answer !== undefined) this.#try(answer());
  }

  /** A note to the agent whose transcript is open, or to one that the person chooses. */
  #tell(): void {
    const { agents, ended, live } = this.#state;
    if (ended !== undefined || agents.size === 0) return;
    const { signal } = this.#closed;
    // Those at work come first.
    const working = new Set([...live.values()].map(({ agent }) => agent));
    const names = [...agents.keys()].toSorted((one, other) => Number(working.has(other)) - Number(working.has(one)));
    const about = { agents: names, signal };
    const tell = async (): Promise<void> => {
      const note = await this.away(async () => this.#actions.askNote({ ...about, chosen: this.#look.open }));
      if (signal.aborted) return this.print('note      not sent: the run ended meanwhile');
      if (note === undefined) return;
      await this.#actions.intervene(note);
      this.notice(`${plainLine(note.agent, 60)} reads it ${note.now ? 'at once' : 'in its next turn'}.`);
    };
    this.#try(tell());
  }

  #arm(action: Action['do'], notice: string): void {
    this.#armed = action;
    this.notice(notice);
  }

  #steer(request: InterventionRequest, done: string): void {
    const steer = async (): Promise<void> => {
      await this.#actions.intervene(request);
      this.notice(done);
    };
    this.#try(steer());
  }

  #try(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.notice(plainLine(errorText(error), 300)));
  }
}

/** Left free below the last frame, for the lines about the end. */
const ROWS_OF_END = 8;
const LEAST_ROWS = 8;

/** A run that is over, as lines of the shell's screen. */
export function lastFrame(
  { state, progress, team }: Pick<BoardView, 'state' | 'progress' | 'team'>,
  terminal: Terminal,
): string[] {
  const { columns, rows } = terminal.size();
  const view = { state, now: Date.now(), progress, open: undefined, scrolled: 0, keys: [], team, notice: undefined };
  const size = { columns, rows: Math.max(LEAST_ROWS, rows - ROWS_OF_END), colour: terminal.colour };
  return renderFrame(view, size);
}

const PAUSED = 'Paused: turns finish, and none starts.';

/** Reads key by key from the terminal, until the returned function is called. Does nothing where no terminal is read. */
function readKeys(onKey: (key: Key) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const listener = (_: string | undefined, key: Key): void => onKey(key);
  // A terminal that is gone also sends a signal.
  const ignore = (): void => undefined;
  emitKeypressEvents(stdin);
  stdin.on('keypress', listener).on('error', ignore).setRawMode(true).resume();
  return () => {
    stdin.off('keypress', listener).off('error', ignore).pause();
    if (!stdin.destroyed) stdin.setRawMode(false);
  };
}
