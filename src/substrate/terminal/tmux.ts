import { SquadError } from '../../model/errors.ts';
import type { Processes } from '../ports/processes.ts';
import type { Terminal, TerminalPane } from '../ports/terminal.ts';
import { MARKER_VARIABLE } from '../process/process-table.ts';
import { inFolder } from './pane-command.ts';

const TIMEOUT_MS = 10_000;
/** The first whose `new-session` takes variables. */
const FLOOR = '3.2';

interface Window {
  readonly id: string;
  /** The pane that the next one is split from. */
  readonly last: string;
  readonly panes: number;
}

interface TmuxPorts {
  readonly processes: Pick<Processes, 'run'>;
  /** Of whoever called: what the panes inherit, and where tmux finds its socket. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Panes of tmux. Inside tmux they are windows of the session that the person is in; elsewhere a session of its own, on a
 * server of its own, so that the panes have the environment of whoever opened them and not of a server that is days old.
 */
export function createTmux({ processes, environment }: TmuxPorts): Terminal {
  const isInside = (environment['TMUX'] ?? '') !== '';
  const socket = (team: string): string[] => (isInside ? [] : ['-L', team]);

  /** Without the variable that marks helpers: what tmux starts outlives this command. */
  const call = async (args: readonly string[]) =>
    processes.run('/usr/bin/env', ['-u', MARKER_VARIABLE, 'tmux', ...args], {
      env: environment,
      timeoutMs: TIMEOUT_MS,
    });
  const tmux = async (team: string, args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr, problem } = await call([...socket(team), ...args]);
    if (code === 0) return stdout;
    throw new SquadError({
      code: 'wrong-environment',
      message: `tmux refused ${args[0] ?? ''}: ${(problem ?? stderr).trim().slice(-400)}`,
      next: 'Try it with a larger terminal, or with `squad team --detach`.',
    });
  };
  const made = async (team: string, args: readonly string[]): Promise<{ id: string; last: string }> => {
    const [id = '', last = ''] = (await tmux(team, args)).trim().split(' ');
    return { id, last };
  };
  /** Of this team, and of no other, in order. */
  const windowsOf = async (team: string): Promise<readonly Window[]> => {
    const format = `#{window_id} #{pane_id} #{${TEAM_OPTION}}`;
    const { code, stdout } = await call([...socket(team), 'list-panes', '-a', '-F', format]);
    // No server is no window.
    if (code !== 0) return [];
    const windows = new Map<string, Window>();
    for (const line of stdout.split('\n')) {
      const [id = '', last = '', ...mark] = line.split(' ');
      if (mark.join(' ') === team) windows.set(id, { id, last, panes: (windows.get(id)?.panes ?? 0) + 1 });
    }
    return [...windows.values()];
  };

  const addWindow = async (team: string, pane: TerminalPane, isThere: boolean): Promise<Window> => {
    const begin = isInside ? newWindow : isThere ? nextWindow : newSession;
    const { id, last } = await made(team, begin(team, pane));
    // At once: a program that has ended before leaves nothing to be read.
    for (const args of dressWindow(team, id)) await tmux(team, args);
    return { id, last, panes: 1 };
  };
  const addPane = async (team: string, { id, last, panes }: Window, pane: TerminalPane): Promise<Window> => {
    const split = await made(team, splitWindow(last, pane));
    await tmux(team, tile(id));
    return { id, last: split.last, panes: panes + 1 };
  };

  return {
    check: async () => {
      const { code, stdout } = await call(['-V']);
      const next = 'Install tmux 3.2 or newer, or look on from here: `squad status`, `squad mail listen`.';
      if (code !== 0) return { ok: false, why: 'tmux is not on PATH', next };
      // A build from its repository has no number, and is new.
      const version = /\d+\.\d+/.exec(stdout)?.[0] ?? FLOOR;
      const isOld = version.localeCompare(FLOOR, 'en', { numeric: true }) < 0;
      return isOld ? { ok: false, why: `tmux ${version} is older than ${FLOOR}`, next } : { ok: true };
    },
    isOpen: async (team) => (await windowsOf(team)).length > 0,
    open: async (team, panes) => {
      let window = (await windowsOf(team)).at(-1);
      let focus: string | undefined;
      for (const pane of panes) {
        const isFull = window === undefined || window.panes >= PANES_OF_A_WINDOW;
        window =
          window === undefined || isFull
            ? await addWindow(team, pane, window !== undefined)
            : await addPane(team, window, pane);
        for (const args of dressPane(window.last, pane)) await tmux(team, args);
        focus ??= window.last;
      }
      if (focus !== undefined) for (const args of lookAt(focus)) await tmux(team, args);
    },
    close: async (team) => {
      const windows = await windowsOf(team);
      for (const { id } of windows) await tmux(team, ['kill-window', '-t', id]);
      return windows.length > 0;
    },
    attach: (team) => (isInside ? undefined : ['tmux', '-L', team, 'attach-session', '-t', `=${team}`]),
  };
}

/** So many fit on a screen of 80 by 24 and can still be read. */
export const PANES_OF_A_WINDOW = 9;

/** Marks a window as one of this team's: of these alone, squad ever closes one. */
export const TEAM_OPTION = '@squad_team';

/** Prints which pane was made, in which window. */
const PRINT = ['-P', '-F', '#{window_id} #{pane_id}'];

/** For a screen that nobody has attached to yet; it becomes as large as the terminal that does. */
const DETACHED = ['-x', '200', '-y', '50'];

/** Arguments for tmux itself; each an array of its own. What a pane runs is never read by a shell. */
export function newSession(team: string, pane: TerminalPane): string[] {
  return literal(['new-session', '-d', ...DETACHED, '-s', team, '-n', 'team', ...PRINT, ...program(pane)]);
}

/** In the session that the person is in. */
export function newWindow(team: string, pane: TerminalPane): string[] {
  return literal(['new-window', '-n', team, ...PRINT, ...program(pane)]);
}

/** One more window in the team's own session. */
export function nextWindow(session: string, pane: TerminalPane): string[] {
  return literal(['new-window', '-d', '-t', `=${session}:`, '-n', 'team', ...PRINT, ...program(pane)]);
}

/** Behind that pane, in the order of their numbers. */
export function splitWindow(paneId: string, pane: TerminalPane): string[] {
  return literal(['split-window', '-d', '-t', paneId, ...PRINT, ...program(pane)]);
}

/** What is typed goes to this pane. */
export function lookAt(paneId: string): readonly string[][] {
  return [
    ['select-window', '-t', paneId],
    ['select-pane', '-t', paneId],
  ];
}

/** All panes of one size: there is room for the next again. */
export function tile(window: string): string[] {
  return ['select-layout', '-t', window, 'tiled'];
}

/** How a window of a team looks, and what it remembers. */
export function dressWindow(team: string, window: string): readonly string[][] {
  const set = (...option: string[]): string[] => ['set-option', '-w', '-t', window, ...option];
  return [
    set('remain-on-exit', 'on'),
    set(TEAM_OPTION, team),
    set('pane-border-status', 'top'),
    set('pane-border-format', ' #{?pane_active,#[bold],}#{pane_index} #{pane_title} '),
    set('automatic-rename', 'off'),
    set('allow-rename', 'off'),
  ];
}

/** The title that people see, and what becomes of the pane once its program has ended. */
export function dressPane(paneId: string, { title, stays }: TerminalPane): readonly string[][] {
  return [
    literal(['select-pane', '-t', paneId, '-T', title.replaceAll('#', '_')]),
    // Never `failed`: tmux 3.3a on a busy machine misses how the program ended, and keeps the pane for ever.
    ['set-option', '-p', '-t', paneId, 'remain-on-exit', stays ? 'on' : 'off'],
  ];
}

function program(pane: TerminalPane): string[] {
  const variables = Object.entries(pane.environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  return [...variables, '--', ...inFolder(pane)];
}

/** tmux ends a command where an argument ends in a semicolon, unless a backslash stands before it. */
function literal(args: readonly string[]): string[] {
  return args.map((arg) => (arg.endsWith(';') ? `${arg.slice(0, -1)}\\;` : arg));
}
