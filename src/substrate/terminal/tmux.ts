import { SquadError } from '../../model/errors.ts';
import { MARKER_VARIABLE } from '../process/process-table.ts';
import type { Processes } from '../ports/processes.ts';
import type { Terminal, TerminalPane } from '../ports/terminal.ts';
import {
  dressPane,
  dressWindow,
  lookAt,
  newSession,
  newWindow,
  nextWindow,
  PANES_OF_A_WINDOW,
  splitWindow,
  TEAM_OPTION,
  tile,
} from './tmux-commands.ts';

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
