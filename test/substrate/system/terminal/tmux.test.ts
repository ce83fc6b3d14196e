import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import type { TerminalPane } from '../../../../src/substrate/ports/terminal.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { createTmux } from '../../../../src/substrate/system/terminal/tmux.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../../../support/tmux.ts';
import { ALL } from '../../../support/lane.ts';

const TEAM = 'team-1234abcd';
const HOSTILE = ['$(touch pwned)', '#{pane_id} #(touch pwned) #[bold]', `it's "so" \\`, 'ends in;', ';', '-x', ''];
/** Writes down how it was started, and stays. */
const SHOW = `require('fs').writeFileSync(process.argv[1], JSON.stringify({
  cwd: process.cwd(), args: process.argv.slice(2), role: process.env.TEAM_ROLE, marker: process.env.SQUAD_TURN_ID ?? null,
})); setTimeout(() => {}, 30_000);`;

describe.skipIf(NO_TMUX !== undefined)(`tmux${NO_TMUX === undefined ? '' : ` (skipped: ${NO_TMUX})`}`, () => {
  it('opens a pane for each program, which gets its folder, variables and arguments as they are', async () => {
    const { room, terminal, root } = setUp();
    const directory = join(root, `a "b" 'c' #(touch pwned) #[x] $(touch pwned);`);
    mkdirSync(directory);
    const panes = ['MAIN', 'A', 'B'].map((role) => pane(root, role, { directory }));
    await terminal.open(TEAM, panes);

    for (const role of ['MAIN', 'A', 'B']) {
      expect(await startOf(root, role)).toEqual({ cwd: directory, args: HOSTILE, role, marker: null });
    }
    expect(titles(room)).toEqual(['title-MAIN', 'title-A', 'title-B']);
    expect(room.tmux(TEAM, 'show-options', '-wv', 'pane-border-status').trim()).toBe('top');
    expect([existsSync(join(root, 'pwned')), existsSync(join(directory, 'pwned'))]).toEqual([false, false]);
    expect(terminal.attach(TEAM)).toEqual(['tmux', '-L', TEAM, 'attach-session', '-t', `=${TEAM}`]);
  });

  it('has room for the largest team, in more windows than one', ALL, async () => {
    const { room, terminal, root } = setUp();
    const roles = Array.from({ length: 28 }, (_, index) => `member-${index}`);
    await terminal.open(
      TEAM,
      roles.map((role) => pane(root, role, { command: ['/bin/sleep', '30'] })),
    );
    expect(titles(room)).toEqual(roles.map((role) => `title-${role}`));
    expect(room.tmux(TEAM, 'list-windows').trim().split('\n')).toHaveLength(4);
  });

  it('adds panes behind those that are there, and lets people type into the first new one', async () => {
    const { room, terminal, root } = setUp();
    for (const roles of [['engine'], ['MAIN', 'A'], ['B']]) {
      await terminal.open(
        TEAM,
        roles.map((role) => pane(root, role, {})),
      );
    }
    expect(titles(room)).toEqual(['title-engine', 'title-MAIN', 'title-A', 'title-B']);
    expect(room.tmux(TEAM, 'display-message', '-p', '#{pane_title}').trim()).toBe('title-B');
  });

  it('keeps what a program printed that is to stay, and lets the others go', async () => {
    const { room, terminal, root } = setUp();
    const go = join(root, 'go');
    const ends = ['/bin/sh', '-c', 'until test -e "$1"; do sleep 0.1; done; echo the end', 'sh', go];
    await terminal.open(TEAM, [
      pane(root, 'MAIN', { command: ['/bin/sleep', '30'] }),
      pane(root, 'quits', { command: ends }),
      pane(root, 'engine', { command: ends, stays: true }),
    ]);
    writeFileSync(go, '');
    await eventually('the pane that is left', () => (titles(room).length === 2 ? true : undefined));
    expect(titles(room)).toEqual(['title-MAIN', 'title-engine']);
    const engine = `=${TEAM}:0.1`;
    await eventually('the end', () => (room.screen(TEAM, engine).includes('the end') ? true : undefined));
    expect(room.tmux(TEAM, 'display-message', '-p', '-t', engine, '#{pane_dead}').trim()).toBe('1');
  });

  it('closes what it opened', async () => {
    const { terminal, root } = setUp();
    expect(await terminal.isOpen(TEAM)).toBe(false);
    expect(await terminal.close(TEAM)).toBe(false);
    await terminal.open(TEAM, [pane(root, 'MAIN', {})]);
    expect(await terminal.isOpen(TEAM)).toBe(true);
    expect(await terminal.isOpen('team-another')).toBe(false);
    expect(await terminal.close(TEAM)).toBe(true);
    expect(await terminal.isOpen(TEAM)).toBe(false);
  });

  it('opens a window where the person already is, and closes no other', async () => {
    const room = setUp().room;
    room.tmux('mine', 'new-session', '-d', '-s', 'work', '-n', 'mine', '/bin/sleep', '30');
    const inside = room.tmux('mine', 'display-message', '-p', '#{socket_path},#{pid},0').trim();
    const { terminal, root } = setUp({ ...room.environment, TMUX: inside });
    await terminal.open(TEAM, [pane(root, 'MAIN', {}), pane(root, 'A', {})]);

    expect(terminal.attach(TEAM)).toBeUndefined();
    expect(room.tmux('mine', 'list-windows', '-F', '#{window_name} #{window_panes}').trim().split('\n')).toEqual([
      'mine 1',
      `${TEAM} 2`,
    ]);
    expect(await terminal.close(TEAM)).toBe(true);
    expect(room.tmux('mine', 'list-windows', '-F', '#{window_name}').trim()).toBe('mine');
  });
});

it('names what is missing where there is no tmux', async () => {
  const { terminal } = setUp({ PATH: '/nowhere' });
  expect(await terminal.check()).toMatchObject({ ok: false, why: 'tmux is not on PATH' });
});

function setUp(environment?: Record<string, string>) {
  const room = openTmuxRoom();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-terminal-')));
  onTestFinished(() => {
    room.close();
    rmSync(root, { recursive: true, force: true });
  });
  const processes = createSystemProcesses({ clock: createSystemClock() });
  const terminal = createTmux({ processes, environment: environment ?? room.environment });
  return { room, root, terminal };
}

function pane(root: string, role: string, other: Partial<TerminalPane>): TerminalPane {
  return {
    title: `title-${role}`,
    command: [process.execPath, '-e', SHOW, '--', join(root, `${role}.json`), ...HOSTILE],
    directory: root,
    environment: { TEAM_ROLE: role },
    stays: false,
    ...other,
  };
}

function titles(room: ReturnType<typeof openTmuxRoom>): string[] {
  return room.tmux(TEAM, 'list-panes', '-s', '-F', '#{pane_title}').trim().split('\n');
}

async function startOf(root: string, role: string): Promise<unknown> {
  const path = join(root, `${role}.json`);
  return eventually(`the start of ${role}`, () => {
    if (!existsSync(path)) return undefined;
    const text = readFileSync(path, 'utf8');
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  });
}
