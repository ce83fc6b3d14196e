import { wrongEnvironment } from '../../../model/errors.ts';
import type { Processes } from '../../ports/processes.ts';
import type { Terminal, TerminalPane } from '../../ports/terminal.ts';
import { MARKER_VARIABLE } from '../process/process-table.ts';

const TIMEOUT_MS = 10_000;
/** The first version whose `new-session` accepts variables. */
const FLOOR = '3.2';
/** So many panes are readable on a screen of 80 by 24. */
const PANES_OF_A_WINDOW = 9;
/** Marks the windows of a team. squad closes no others. */
const TEAM_OPTION = '@squad_team';

interface Window {
  readonly id: string;
  /** The pane that the next one is split from. */
  readonly last: string;
  readonly panes: number;
}

interface TmuxPorts {
  readonly processes: Pick<Processes, 'run'>;
  /** The caller's environment, which the panes inherit and which names tmux's socket. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Panes of tmux. Inside tmux the team's windows are in the person's session. Elsewhere the team has a session on a server of its
 * own, so that the panes have the caller's environment and not that of an old server.
 */
export function createTmux(ports: TmuxPorts): Terminal {
  const isInside = (ports.environment['TMUX'] ?? '') !== '';
  const calls = createCalls(ports, isInside);
  const { call, tmux, windowsOf } = calls;
  const addPane = createPanes(calls, isInside);
  return {
    check: async () => {
      const { code, stdout } = await call(['-V']);
      const next = 'Install tmux 3.2 or newer, or watch from here: `squad status`, `squad mail listen`.';
      if (code !== 0) return { ok: false, why: 'tmux is not on PATH', next };
      // A build from its repository has no version number, and is new.
      const version = /\d+\.\d+/.exec(stdout)?.[0] ?? FLOOR;
      const isOld = version.localeCompare(FLOOR, 'en', { numeric: true }) < 0;
      return isOld ? { ok: false, why: `tmux ${version} is older than ${FLOOR}`, next } : { ok: true };
    },
    isOpen: async (team) => (await windowsOf(team)).length > 0,
    open: async (team, panes) => {
      let window = (await windowsOf(team)).at(-1);
      let focus: string | undefined;
      for (const pane of panes) {
        window = await addPane(team, window, pane);
        for (const args of dressPane(window.last, pane)) await tmux(team, args);
        focus ??= window.last;
      }
      if (focus === undefined) return;
      for (const verb of ['select-window', 'select-pane']) await tmux(team, [verb, '-t', focus]);
    },
    close: async (team) => {
      const windows = await windowsOf(team);
      for (const { id } of windows) await tmux(team, ['kill-window', '-t', id]);
      return windows.length > 0;
    },
    attach: (team) => (isInside ? undefined : ['tmux', '-L', team, 'attach-session', '-t', `=${team}`]),
  };
}

function createCalls({ processes, environment }: TmuxPorts, isInside: boolean) {
  const socket = (team: string): string[] => (isInside ? [] : ['-L', team]);
  /** Without the variable that marks helpers, because tmux outlives this command. */
  const call = async (args: readonly string[]) =>
    processes.run('/usr/bin/env', ['-u', MARKER_VARIABLE, 'tmux', ...args], {
      kind: 'terminal',
      env: environment,
      timeoutMs: TIMEOUT_MS,
    });
  const tmux = async (team: string, args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr, problem } = await call([...socket(team), ...args]);
    if (code === 0) return stdout;
    throw wrongEnvironment(
      `tmux refused ${args[0] ?? ''}: ${(problem ?? stderr).trim().slice(-400)}`,
      'Try it with a larger terminal, or with `squad team --detach`.',
    );
  };
  /** The team's windows, in order. */
  const windowsOf = async (team: string): Promise<readonly Window[]> => {
    const format = `#{window_id} #{pane_id} #{${TEAM_OPTION}}`;
    const { code, stdout } = await call([...socket(team), 'list-panes', '-a', '-F', format]);
    // Without a server there are no windows.
    if (code !== 0) return [];
    const windows = new Map<string, Window>();
    for (const line of stdout.split('\n')) {
      const [id = '', last = '', ...mark] = line.split(' ');
      if (mark.join(' ') === team) windows.set(id, { id, last, panes: (windows.get(id)?.panes ?? 0) + 1 });
    }
    return [...windows.values()];
  };
  return { call, tmux, windowsOf };
}

/** Adds a pane to a window, or to a new window if there is none or it is full. Returns the pane's window. */
function createPanes({ tmux }: ReturnType<typeof createCalls>, isInside: boolean) {
  const make = async (
    team: string,
    args: readonly string[],
    pane: TerminalPane,
  ): Promise<{ id: string; last: string }> => {
    const variables = Object.entries(pane.environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const program = [...variables, '--', ...inFolder(pane, pane.stays ? undefined : UNLESS_FAILED)];
    const printed = await tmux(team, literal([...args, '-P', '-F', '#{window_id} #{pane_id}', ...program]));
    const [id = '', last = ''] = printed.trim().split(' ');
    return { id, last };
  };
  return async (team: string, window: Window | undefined, pane: TerminalPane): Promise<Window> => {
    if (window !== undefined && window.panes < PANES_OF_A_WINDOW) {
      const { last } = await make(team, ['split-window', '-d', '-t', window.last], pane);
      // Gives all panes the same size, which makes room for the next.
      await tmux(team, ['select-layout', '-t', window.id, 'tiled']);
      return { id: window.id, last, panes: window.panes + 1 };
    }
    const { id, last } = await make(team, newWindow(team, isInside, window !== undefined), pane);
    // At once, because a program that has ended before would close its pane.
    for (const args of dressWindow(team, id)) await tmux(team, args);
    return { id, last, panes: 1 };
  };
}

function newWindow(team: string, isInside: boolean, hasSession: boolean): string[] {
  if (isInside) return ['new-window', '-n', team];
  if (hasSession) return ['new-window', '-d', '-t', `=${team}:`, '-n', 'team'];
  // The size until a terminal attaches.
  return ['new-session', '-d', '-x', '200', '-y', '50', '-s', team, '-n', 'team'];
}

function dressWindow(team: string, window: string): readonly string[][] {
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

/** Sets the visible title, and whether the pane stays after its program has ended. */
function dressPane(paneId: string, { title, stays }: TerminalPane): readonly string[][] {
  return [
    literal(['select-pane', '-t', paneId, '-T', title.replaceAll('#', '_')]),
    // Not `failed`: on a busy machine tmux 3.3a misses how the program ended and keeps the pane.
    ['set-option', '-p', '-t', paneId, 'remain-on-exit', stays ? 'on' : 'off'],
  ];
}

/** tmux ends a command at an argument that ends in a semicolon, unless a backslash precedes it. */
function literal(args: readonly string[]): string[] {
  return args.map((arg) => (arg.endsWith(';') ? `${arg.slice(0, -1)}\\;` : arg));
}

/** Where the pane closes with its program, one that fails waits first, so that a person can read why. A killed one leaves the terminal raw. */
const UNLESS_FAILED = `"$@" || { stty sane; printf '\\nThis program failed. Press Enter to close the pane.\\n'; read -r answer; }`;

/** Runs the command in the pane's folder. Not by tmux's own option, which reads the folder as a format and runs `#(…)` in it. */
function inFolder(
  { directory, command }: Pick<TerminalPane, 'directory' | 'command'>,
  start = 'exec "$@"',
): readonly string[] {
  return ['/bin/sh', '-c', `cd "$1" && shift && ${start}`, 'squad', directory, ...command];
}
