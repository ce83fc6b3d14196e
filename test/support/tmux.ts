import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Why tests that need a real tmux cannot run here; undefined: they can. */
export const NO_TMUX = spawnSync('tmux', ['-V']).status === 0 ? undefined : 'tmux is not installed';

/** A folder for the sockets of tmux servers of one test, and what is asked of them. */
export interface TmuxRoom {
  readonly environment: Record<string, string>;
  tmux(socket: string, ...args: string[]): string;
  /** What a pane shows, and what has left its top. */
  screen(socket: string, pane: string): string;
  /** Names of the servers that were started here. */
  sockets(): readonly string[];
  /** Ends every server that was started here. */
  close(): void;
}

export function openTmuxRoom(): TmuxRoom {
  const sockets = realpathSync(mkdtempSync(join(tmpdir(), 'squad-tmux-')));
  const environment = {
    PATH: process.env['PATH'] ?? '',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    HOME: sockets,
    TMUX_TMPDIR: sockets,
  };
  const tmux = (socket: string, ...args: string[]): string =>
    execFileSync('tmux', ['-L', socket, ...args], {
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const folders = (): readonly string[] => readdirSync(sockets).filter((name) => name.startsWith('tmux-'));
  const names = (): readonly string[] => folders().flatMap((folder) => readdirSync(join(sockets, folder)));
  return {
    environment,
    sockets: names,
    tmux,
    screen: (socket, pane) => tmux(socket, 'capture-pane', '-p', '-J', '-S', '-', '-t', pane),
    close: () => {
      for (const socket of names()) spawnSync('tmux', ['-L', socket, 'kill-server'], { env: environment });
      rmSync(sockets, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** Looks again and again until there is something; `what` was waited for in vain otherwise. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  seconds = 15,
): Promise<T> {
  for (const until = performance.now() + seconds * 1000; performance.now() < until;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(100);
  }
  throw new Error(`never seen: ${what}`);
}
